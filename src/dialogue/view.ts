// The one place where a party's message list is built from the record. The agent sees everything but earlier turns'
// reasoning; the user sees only what was said, with the roles flipped, since every model speaks as "assistant".
import type { ChatMessage, Entry, OpeningMessage, Party, ReasoningSpan } from "../core/index.ts";
import { readUserText } from "./end-tokens.ts";

/** Several dialects refuse a list that starts with an assistant message: in the user's view the agent greets first. */
export const NEUTRAL_OPENER = "Hello! How can I help you today?";

export function viewFor(
  party: Party,
  opening: readonly OpeningMessage[],
  entries: readonly Entry[],
  span: ReasoningSpan = "turn",
): ChatMessage[] {
  return party === "agent" ? agentView(opening, entries, span) : userView(opening, entries);
}

function agentView(opening: readonly OpeningMessage[], entries: readonly Entry[], span: ReasoningSpan): ChatMessage[] {
  const messages: ChatMessage[] = opening.map(({ role, content }) => ({ role, content }));
  const turnStart = entries.findLastIndex((entry) => entry.type === "reply" && entry.by === "user" && !entry.rejected);
  for (const [index, entry] of entries.entries()) {
    if (entry.type === "tool-result") {
      messages.push({
        role: "tool",
        callId: entry.callId,
        name: entry.name,
        content: entry.content,
        isError: entry.isError,
      });
    } else if (entry.type === "reply" && !entry.rejected) {
      if (entry.by === "user") messages.push({ role: "user", content: readUserText(entry.content).text });
      else {
        const keeps = index > turnStart || (span === "dialogue" && entry.toolCalls.length > 0);
        messages.push({
          role: "assistant",
          content: entry.content,
          reasoning: keeps && entry.reasoning ? entry.reasoning : undefined,
          opaque: keeps ? entry.opaque : undefined,
          toolCalls: entry.toolCalls.length > 0 ? entry.toolCalls : undefined,
        });
      }
    }
  }
  return messages;
}

function userView(opening: readonly OpeningMessage[], entries: readonly Entry[]): ChatMessage[] {
  const messages: ChatMessage[] = [];
  if (opening[0]?.role !== "assistant") messages.push({ role: "user", content: NEUTRAL_OPENER });
  for (const { role, content } of opening) messages.push({ role: role === "user" ? "assistant" : "user", content });
  for (const entry of entries) {
    if (entry.type !== "reply" || entry.rejected || entry.content.trim() === "") continue;
    if (entry.by === "user") messages.push({ role: "assistant", content: readUserText(entry.content).text });
    else if (entry.toolCalls.length === 0) messages.push({ role: "user", content: entry.content });
  }
  return messages;
}
