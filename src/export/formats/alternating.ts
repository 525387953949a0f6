// What LLaMA-Factory's two loaders share: the user's side and the agent's side take turns, strictly, starting with the
// user and ending with the agent; a row that breaks this is silently emptied, so none is written.

import { rawArguments } from "../row-text.ts";
import type { AgentMessage, Call, DialogueMessage } from "../training-dialogue.ts";
import { inCallOrder, MALFORMED, MERGED, TEXT_WITH_CALL } from "./format.ts";

/** Results of parallel calls go into one observation, separated as the loader itself separates them. */
export const RESULT_SEPARATOR = "\n</tool_response>\n<tool_response>\n";

const MEDIA = /<(image|video|audio)>/;

export type Alternating = { messages: DialogueMessage[]; notes: string[] };

/** The messages with sides taking turns, or the reason why they cannot. */
export function alternate(given: DialogueMessage[]): Alternating | { reason: string } {
  const notes: string[] = [];
  const merged = mergeSides(inCallOrder(given));
  if (merged.length < given.length) notes.push(MERGED);
  if (merged[0]?.role !== "user") return { reason: "it begins with the agent, and the loader wants a user first" };
  for (const message of merged) {
    if (MEDIA.test(message.content))
      return { reason: "<image>, <video> or <audio> in a text, which the loader takes for media" };
    if (message.role === "tool" && message.content.includes(RESULT_SEPARATOR.trim()))
      return { reason: "a tool result holds the mark that parts results" };
    if (message.role === "assistant" && message.calls.length > 0) {
      if (message.calls.some((call) => !rawArguments(call.arguments))) return { reason: MALFORMED };
      if (message.content !== "" && !notes.includes(TEXT_WITH_CALL)) notes.push(TEXT_WITH_CALL);
    }
  }
  const messages = merged.map((message) =>
    message.role === "assistant" && message.calls.length > 0 ? { ...message, content: "" } : message,
  );
  return { messages, notes };
}

/** Two user messages in a row become one; so do two agent messages, if the first has no calls. */
export function mergeSides(messages: DialogueMessage[]): DialogueMessage[] {
  const merged: DialogueMessage[] = [];
  for (const message of messages) {
    const before = merged.at(-1);
    if (before?.role === "user" && message.role === "user")
      merged[merged.length - 1] = { role: "user", content: `${before.content}\n\n${message.content}` };
    else if (before?.role === "assistant" && message.role === "assistant" && before.calls.length === 0)
      merged[merged.length - 1] = join(before, message);
    else merged.push(message);
  }
  return merged;
}

function join(a: AgentMessage, b: AgentMessage): AgentMessage {
  const glue = (...texts: (string | undefined)[]) => texts.filter(Boolean).join("\n\n");
  const reasoning = glue(a.reasoning, b.reasoning);
  return { ...b, content: glue(a.content, b.content), reasoning: reasoning || undefined };
}

/** `[{"name", "arguments"}, …]`, or the one call alone; the arguments are the model's own text. */
export function callsText(calls: readonly Call[]): string {
  const texts = calls.map(
    (call) => `{"name": ${JSON.stringify(call.name)}, "arguments": ${rawArguments(call.arguments)?.text}}`,
  );
  return texts.length === 1 ? (texts[0] as string) : `[${texts.join(", ")}]`;
}
