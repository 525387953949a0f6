// Where in its plan a scripted agent is. Its own summaries say it, so that it finds its place when a summary is all that is
// left of its work; and what is asked for the lack of room is no turn of the user's.
import {
  ANSWER_REQUEST,
  type ChatMessage,
  type PlayedCall,
  parseJson,
  RESULTS_READ,
  SUMMARY_REQUEST,
  splitSummary,
} from "../../core/index.ts";
import type { Script } from "./script.ts";

/** The turn and step that come next, how the dialogue began, and the results that a summary kept. */
export type Progress = { turn: number; step: number; opening: string; kept: PlayedCall[] };

/** The messages without what was asked for the lack of room, and what that was. */
export function takeRequest(messages: readonly ChatMessage[]): {
  messages: readonly ChatMessage[];
  asked?: "summary" | "answer";
} {
  const last = messages.at(-1);
  if (last?.role !== "user") return { messages };
  const request = [SUMMARY_REQUEST, ANSWER_REQUEST].find((text) => last.content.endsWith(text));
  if (request === undefined) return { messages };
  const asked = request === SUMMARY_REQUEST ? "summary" : "answer";
  const said = last.content.slice(0, -request.length).trimEnd();
  if (said !== "") return { messages: [...messages.slice(0, -1), { role: "user", content: said }], asked };
  const isBridged = messages.at(-2)?.content === RESULTS_READ;
  return { messages: messages.slice(0, isBridged ? -2 : -1), asked };
}

export function findProgress(messages: readonly ChatMessage[]): Progress {
  const turnStart = messages.findLastIndex((message) => message.role === "user");
  const users = messages.filter((message) => message.role === "user");
  const steps = messages.slice(turnStart + 1).filter((message) => message.role === "assistant").length;
  const first = users[0]?.content ?? "";
  const before = readSummary(first) ?? { turn: 0, step: 0, opening: splitSummary(first)?.asked ?? first, kept: [] };
  return {
    ...before,
    turn: before.turn + users.length - 1,
    step: steps + (users.length === 1 ? before.step : 0),
  };
}

const MARK = "My plan so far: ";

/** Only results that a plan refers to are kept: it is a summary. */
export function writeSummary(progress: Progress, played: readonly PlayedCall[], script: Script): string {
  const references = (JSON.stringify(script.plan).match(/\{\{[^{}]+\}\}/g) ?? []).join(" ");
  const kept = played.filter(({ name }) => references.includes(name.split(".").at(-1) ?? name));
  return MARK + JSON.stringify({ ...progress, kept });
}

function readSummary(text: string): Progress | undefined {
  const summary = splitSummary(text)?.summary ?? "";
  return summary.startsWith(MARK) ? (parseJson(summary.slice(MARK.length)) as Progress | undefined) : undefined;
}
