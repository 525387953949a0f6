// Whose turn it is and what the scripted model says: a request's `model` names the role, its content the query. An
// unknown dialogue gets a plain answer, so that any client can be tried against the server.
import {
  listPlannedCalls,
  type ModelReply,
  type ModelRequest,
  NO_USAGE,
  type RequestOrigin,
  seedFrom,
} from "../../core/index.ts";
import { createScriptedClient } from "../scripted/clients.ts";
import { findProgress, takeRequest } from "../scripted/progress.ts";
import { isSaidWithoutTools } from "../scripted/refusal.ts";
import { parseScriptedName, type Script } from "../scripted/script.ts";
import { playInText } from "../tool-format/play-in-text.ts";
import { WireError, type WireRequest } from "./wire-request.ts";

/** What identifies a query: who asks for it, and with which words and tools. */
export type DialogueSign = {
  party: "agent" | "user";
  system: string;
  /** the first thing the dialogue's user said, if anything yet */
  opening: string | undefined;
  tools: readonly string[];
};

export type FindScript = (sign: DialogueSign) => Script | undefined;

export const MODEL_NAMES = ["scripted-agent", "scripted-user", "scripted-judge"];

export type Played = { party: RequestOrigin["party"]; reply: ModelReply };

const UNKNOWN_DIALOGUE = {
  agent: "This is a scripted answer: no reference plan is known for this dialogue.",
  user: "That's all, thank you. ###STOP###",
};

/** A request without tools whose system prompt describes some is answered as a model without function calling would. */
export async function play(wire: WireRequest, findScript: FindScript, signal: AbortSignal): Promise<Played> {
  const name = scriptedName(wire.model);
  const { role: party } = parseScriptedName(name);
  return { party, reply: await playInText(wire, (read) => answer({ wire: read, name, party }, findScript, signal)) };
}

type Asked = { wire: WireRequest; name: string; party: keyof typeof UNKNOWN_DIALOGUE | "judge" };

async function answer({ wire, name, party }: Asked, findScript: FindScript, signal: AbortSignal): Promise<ModelReply> {
  const opening =
    party === "user"
      ? wire.messages.find(({ role }) => role === "assistant")?.content
      : findProgress(takeRequest(wire.messages).messages).opening;
  const tools = wire.tools.map((tool) => tool.name);
  const script = party === "judge" ? undefined : findScript({ party, system: wire.system, opening, tools });
  if (party !== "judge" && !script) return toPlainReply(UNKNOWN_DIALOGUE[party]);
  const seed = wire.seed ?? seedFrom("mock", opening ?? wire.system);
  const mode = script && !canPlay(wire, party, script) ? "wrong_tool" : "positive";
  const origin: RequestOrigin = { dataset: "", queryId: "", rollout: 0, seed, mode, party, position: 0 };
  const { system, messages, toolChoice } = wire;
  const request: ModelRequest = { system, messages, tools: wire.tools, toolChoice, origin };
  return createScriptedClient(name, () => script).complete(request, signal);
}

/** `scripted-agent`, `scripted-agent?skill=0.7` or `scripted/agent?skill=0.7`. */
function scriptedName(model: string): string {
  const name = model.replace(/^scripted-/, "scripted/");
  try {
    if (!name.startsWith("scripted/")) throw new Error(`there are ${MODEL_NAMES.join(", ")}`);
    parseScriptedName(name);
    return name;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new WireError(404, "model_not_found", `The model "${model}" does not exist: ${reason}`);
  }
}

/** Whether the agent has the plan's tools; its user can tell only by what the agent says. */
function canPlay(wire: WireRequest, party: RequestOrigin["party"], script: Script): boolean {
  if (party === "user") return !isSaidWithoutTools(wire.messages.at(-1)?.content ?? "");
  const offered = new Set(wire.tools.map((tool) => tool.name));
  return listPlannedCalls(script.plan).every((call) => offered.has(script.wireName(call.name)));
}

function toPlainReply(content: string): ModelReply {
  return { content, toolCalls: [], usage: NO_USAGE, finish: "stop" };
}
