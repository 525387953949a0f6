// The one place where a party's message list is built from the record. The agent sees everything but earlier turns'
// reasoning; the user sees only what was said and its own calls, roles flipped, since every model speaks as "assistant".
import {
  type ChatMessage,
  type Entry,
  isAside,
  isErrorText,
  joinSummary,
  type OpeningMessage,
  type Party,
  type ReasoningSpan,
  type ReplyEntry,
  remember,
  type SummaryEntry,
  type ToolResultEntry,
} from "../core/index.ts";
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

/** A view as it was last built from a list of entries, which only ever grows. */
type Built = { opening: readonly OpeningMessage[]; span: ReasoningSpan; entries: number; messages: ChatMessage[] };

const built = new WeakMap<readonly Entry[], Built>();

/** Built anew at each turn and summary, since they change what was before; other entries are only added. */
function agentView(opening: readonly OpeningMessage[], entries: readonly Entry[], span: ReasoningSpan): ChatMessage[] {
  const known = built.get(entries);
  const added = entries.slice(known?.entries);
  const goesOn = known?.opening === opening && known.span === span && !added.some(startsOver);
  const messages = goesOn
    ? [...known.messages, ...added.flatMap((entry) => toAgentMessage(entry, true))]
    : buildAgentView(opening, entries, span);
  built.set(entries, { opening, span, entries: entries.length, messages });
  return messages;
}

function startsOver(entry: Entry): boolean {
  return isUserTurn(entry) || isSummary(entry);
}

function isSummary(entry: Entry): boolean {
  return entry.type === "summary" && !entry.rejected;
}

/** What was before the last summary is not in it: the summary is, with the words that the agent has to answer. */
function buildAgentView(
  opening: readonly OpeningMessage[],
  entries: readonly Entry[],
  span: ReasoningSpan,
): ChatMessage[] {
  const summarised = entries.findLastIndex(isSummary);
  const start = summarised === -1 ? toChat(opening) : [toSummaryMessage(opening, entries, summarised)];
  const turnStart = entries.findLastIndex(isUserTurn);
  const messages = entries.slice(summarised + 1).flatMap((entry, at) => {
    const isThisTurn = summarised + 1 + at > turnStart;
    return toAgentMessage(entry, isThisTurn || (span === "dialogue" && entry.type === "reply" && hasCalls(entry)));
  });
  return [...start, ...messages];
}

/** Nothing for what the agent does not see. */
function toAgentMessage(entry: Entry, keepsReasoning: boolean): ChatMessage | [] {
  if (isAside(entry)) return [];
  if (entry.type === "tool-result") return toToolMessage(entry);
  if (entry.type !== "reply" || entry.rejected) return [];
  if (entry.by === "user") return toUserMessage(entry);
  return keepsReasoning && hasThought(entry) ? toWholeReply(entry) : toClearedReply(entry);
}

/** One that has not stays the same message when its turn is over. */
function hasThought({ reasoning, opaque }: ReplyEntry): boolean {
  return Boolean(reasoning) || opaque !== undefined;
}

function hasCalls({ toolCalls }: ReplyEntry): boolean {
  return toolCalls.length > 0;
}

// An entry never changes, so its message stays the same object: whoever turns messages into text can do that once too.

const toUserMessage = remember(
  ({ content }: ReplyEntry): ChatMessage => ({ role: "user", content: readUserText(content).text }),
);

const toWholeReply = remember(
  ({ content, reasoning, opaque, toolCalls }: ReplyEntry): ChatMessage => ({
    role: "assistant",
    content,
    reasoning: reasoning || undefined,
    opaque,
    toolCalls: toolCalls.length > 0 ? toolCalls : undefined,
  }),
);

const toClearedReply = remember(
  ({ content, toolCalls }: ReplyEntry): ChatMessage => ({
    role: "assistant",
    content,
    toolCalls: toolCalls.length > 0 ? toolCalls : undefined,
  }),
);

function toSummaryMessage(opening: readonly OpeningMessage[], entries: readonly Entry[], at: number): ChatMessage {
  const summary = entries[at] as SummaryEntry;
  const last = entries.findLast((entry, index): entry is ReplyEntry => index < at && isUserTurn(entry));
  const asked = last ? readUserText(last.content).text : opening.findLast(({ role }) => role === "user")?.content;
  return { role: "user", content: joinSummary(asked ?? "", summary.content) };
}

/** What the user says to the agent: a turn begins with it. */
function isUserTurn(entry: Entry): boolean {
  return entry.type === "reply" && entry.by === "user" && !entry.rejected && !isAside(entry);
}

function userView(opening: readonly OpeningMessage[], entries: readonly Entry[]): ChatMessage[] {
  return [...toUsersOpening(opening), ...entries.flatMap(toUsersMessage)];
}

const toUsersOpening = remember((opening: readonly OpeningMessage[]): readonly ChatMessage[] => {
  const messages: ChatMessage[] = [];
  if (opening[0]?.role !== "assistant") messages.push({ role: "user", content: NEUTRAL_OPENER });
  for (const message of opening) {
    if (message.role === "user") messages.push({ role: "assistant", content: message.content });
    else if (message.role === "assistant" && !message.tool_calls)
      messages.push({ role: "user", content: message.content });
  }
  return messages;
});

/** Nothing for what the user does not see. */
const toUsersMessage = remember((entry: Entry): ChatMessage | [] => {
  if (entry.type === "tool-result" && entry.by === "user") return toToolMessage(entry);
  if (entry.type !== "reply" || entry.rejected) return [];
  if (isAside(entry)) return { role: "assistant", content: entry.content, toolCalls: entry.toolCalls };
  if (entry.content.trim() === "") return [];
  if (entry.by === "user") return { role: "assistant", content: readUserText(entry.content).text };
  return entry.toolCalls.length === 0 ? { role: "user", content: entry.content } : [];
});

const toToolMessage = remember(
  ({
    callId,
    name,
    content,
    isError,
  }: Pick<ToolResultEntry, "callId" | "name" | "content" | "isError">): ChatMessage => ({
    role: "tool",
    callId,
    name,
    content,
    isError,
  }),
);

const toChat = remember((opening: readonly OpeningMessage[]): readonly ChatMessage[] => {
  const names = new Map<string, string>();
  return opening.map((message): ChatMessage => {
    const { content } = message;
    if (message.role === "user") return { role: "user", content };
    if (message.role === "tool")
      return toToolMessage({
        callId: message.tool_call_id,
        name: names.get(message.tool_call_id) ?? "",
        content,
        isError: isErrorText(content),
      });
    for (const { id, function: called } of message.tool_calls ?? []) names.set(id, called.name);
    const toolCalls = message.tool_calls?.map(({ id, function: called }) => ({ id, ...called }));
    return { role: "assistant", content, toolCalls };
  });
});
