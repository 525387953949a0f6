// The monitor's judge: a model that is asked, after a turn, whether there is any point in continuing.
import {
  type Entry,
  isObject,
  type ModelClient,
  type OpeningMessage,
  parseJson,
  type RequestOrigin,
  type VerdictEntry,
  wellFormed,
} from "../core/index.ts";
import { viewFor } from "./view.ts";

const JUDGE_PROMPT = `You read a conversation between a user and a service agent. Decide whether it is over: the user's request has been
dealt with, or clearly cannot be, and nothing is left to say but courtesies. A question that waits for an answer means that it is not over.
Answer with JSON only: {"stop": true or false, "reason": "one short sentence"}`;

export type Verdict = Omit<VerdictEntry, "at">;

export async function askJudge(
  judge: ModelClient,
  dialogue: { opening: readonly OpeningMessage[]; entries: readonly Entry[]; origin: RequestOrigin },
  signal: AbortSignal,
): Promise<Verdict> {
  const transcript = viewFor("user", dialogue.opening, dialogue.entries)
    .map((message) => `${message.role === "assistant" ? "User" : "Agent"}: ${message.content}`)
    .join("\n\n");
  const reply = await judge.complete(
    {
      system: JUDGE_PROMPT,
      messages: [{ role: "user", content: transcript }],
      tools: [],
      toolChoice: "none",
      origin: dialogue.origin,
    },
    signal,
  );
  const answer = parseJson(/\{[\s\S]*\}/.exec(reply.content)?.[0] ?? "");
  const readable = isObject(answer) && typeof answer.stop === "boolean";
  return {
    type: "verdict",
    stop: readable && answer.stop === true,
    reason: wellFormed(readable ? String(answer.reason ?? "") : `unreadable verdict: ${reply.content.slice(0, 200)}`),
    usage: reply.usage,
  };
}
