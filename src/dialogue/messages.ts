// The dialogue as a trajectory keeps it: everything that was said, reasoning included, without what was rejected.
import {
  type ContextSummary,
  canonicalJson,
  type Entry,
  isAside,
  type OpeningMessage,
  type OtherCall,
  parseJson,
  type Query,
  type ToolCall,
  type TrajectoryMessage,
  writeExact,
} from "../core/index.ts";
import { readUserText } from "./end-tokens.ts";

export function toMessages(opening: readonly OpeningMessage[], entries: readonly Entry[]): TrajectoryMessage[] {
  const messages = [...opening];
  for (const entry of entries) {
    if (isAside(entry)) continue;
    if (entry.type === "tool-result") {
      messages.push({ role: "tool", content: entry.content, tool_call_id: entry.callId });
    } else if (entry.type === "reply" && !entry.rejected) {
      if (entry.by === "user") {
        const { text } = readUserText(entry.content);
        if (text !== "") messages.push({ role: "user", content: text });
      } else {
        messages.push({
          role: "assistant",
          content: entry.content,
          reasoning_content: entry.reasoning || undefined,
          tool_calls: entry.toolCalls.length > 0 ? entry.toolCalls.map(toCall) : undefined,
        });
      }
    }
  }
  return messages;
}

/** Everybody's calls but the agent's, each with its place among the messages. */
export function toOtherCalls(
  { messages: opening, setup = [] }: Pick<Query, "messages" | "setup">,
  entries: readonly Entry[],
): OtherCall[] {
  if (!entries.some(isAside)) return [];
  const calls = new Map<string, ToolCall>();
  const others: OtherCall[] = [];
  let after = opening.length;
  for (const [index, entry] of entries.entries()) {
    if (entry.type === "reply" && !entry.rejected) for (const call of entry.toolCalls) calls.set(call.id, call);
    if (entry.type === "tool-result" && entry.by) {
      const { by: party, callId: id, name, content, isError: is_error } = entry;
      if (party === "setup" && index >= setup.length) continue; // the opening's own, which is among the messages
      const text = party === "setup" ? writeExact(setup[index]?.arguments ?? {}) : (calls.get(id)?.arguments ?? "");
      others.push({ party, after: party === "setup" ? 0 : after, id, name, arguments: text, content, is_error });
    }
    after += toMessages([], [entry]).length;
  }
  return others;
}

/** The summaries that the agent went on from, each with its place among the messages. */
export function toSummaries(opening: readonly OpeningMessage[], entries: readonly Entry[]): ContextSummary[] {
  return entries.flatMap((entry, index) =>
    entry.type === "summary" && !entry.rejected
      ? [{ after: toMessages(opening, entries.slice(0, index)).length, content: entry.content }]
      : [],
  );
}

function toCall({ id, name, arguments: text }: ToolCall) {
  return { id, type: "function" as const, function: { name, arguments: text } };
}

/** What went wrong during the rollout without ending it, or as evidence of why it ended. */
export function faultsOf(
  entries: readonly Entry[],
  query: Partial<Pick<Query, "repairedTexts" | "messages">> = {},
): Fault[] {
  return [
    ...openingFaults(entries, query.messages ?? []),
    ...entries.flatMap(faultsIn),
    ...otherModels(entries),
    ...changesIn(entries, "repairedTexts", query.repairedTexts ?? 0),
    ...changesIn(entries, "redactedTexts"),
  ];
}

/** Where the opening's calls, made again, answered something else: the world is not where the dialogue is. */
function openingFaults(entries: readonly Entry[], opening: readonly OpeningMessage[]): Fault[] {
  return opening.flatMap((message) => {
    if (message.role !== "tool") return [];
    const { tool_call_id: call_id, content } = message;
    const now = entries.find(
      (entry) => entry.type === "tool-result" && entry.by === "setup" && entry.callId === call_id,
    );
    if (now?.type !== "tool-result" || isSameJson(now.content, content)) return [];
    return [{ type: "opening_differs", call_id, tool: now.name, content: now.content }];
  });
}

function isSameJson(a: string, b: string): boolean {
  if (a === b) return true;
  const [first, second] = [parseJson(a), parseJson(b)];
  return first !== undefined && second !== undefined && canonicalJson(first) === canonicalJson(second);
}

type Fault = { type: string; [detail: string]: string };

function faultsIn(entry: Entry): Fault[] {
  if (entry.type === "reply") {
    const faults: Fault[] = [];
    if (entry.rejected)
      faults.push({ type: entry.rejected, by: entry.by, content: entry.content, ...callsOf(entry.toolCalls) });
    if (entry.contextFull) faults.push({ type: "context_full", by: entry.by });
    if (entry.ignoredCalls) faults.push({ type: "calls_with_tools_off", by: entry.by, ...callsOf(entry.ignoredCalls) });
    if (entry.recovered) faults.push({ type: "recovered", by: entry.by, ...callsOf(entry.toolCalls) });
    for (const { type, ...dropped } of entry.formatFaults ?? []) faults.push({ type, by: entry.by, ...dropped });
    if (entry.droppedUsage) faults.push({ type: "dropped_usage", by: entry.by, counts: entry.droppedUsage.join(", ") });
    for (const call of entry.toolCalls) {
      if (call.originalId !== undefined)
        faults.push({ type: "call_id_replaced", call_id: call.id, original_id: call.originalId });
    }
    return faults;
  }
  if (entry.type === "summary" && entry.rejected)
    return [{ type: entry.rejected, by: "summary", content: entry.content, ...callsOf(entry.toolCalls) }];
  if (entry.type !== "tool-result") return [];
  const { callId: call_id, name: tool, injected, fault, by } = entry;
  if (by === "setup") return [];
  const faults: Fault[] = entry.sentBefore ? [{ type: "call_in_flight", tool, call_id }] : [];
  if (injected) faults.push({ type: "injected", trouble: injected, call_id });
  else if (fault && fault !== "tool_error") faults.push({ type: fault, call_id, ...(by && { by }) });
  return faults;
}

const CHANGES = { repairedTexts: "repaired_text", redactedTexts: "redacted_secret" };

/** Each other model that answered, once: every reply says it again. */
function otherModels(entries: readonly Entry[]): Fault[] {
  const found = new Map<string, Fault>();
  for (const entry of entries) {
    if (entry.type !== "reply" || entry.served?.insteadOf === undefined) continue;
    const { model = "", insteadOf } = entry.served;
    found.set(`${entry.by} ${model}`, { type: "other_model", by: entry.by, asked: insteadOf, answered: model });
  }
  return [...found.values()];
}

/** One for the whole rollout, and nobody's fault in scores: which half or key was lost says nothing about the dialogue. */
function changesIn(entries: readonly Entry[], kind: keyof typeof CHANGES, inQuery = 0): Fault[] {
  const counts = new Map([["query", inQuery]]);
  for (const entry of entries) {
    const texts = entry.type === "verdict" ? undefined : entry[kind];
    if (entry.type === "verdict" || !texts) continue;
    const by = entry.type === "reply" ? entry.by : entry.type === "summary" ? entry.type : "tool";
    counts.set(by, (counts.get(by) ?? 0) + texts);
  }
  const texts = [...counts].filter(([, count]) => count > 0).map(([by, count]) => `${by} ${count}`);
  return texts.length > 0 ? [{ type: CHANGES[kind], texts: texts.join(", ") }] : [];
}

/** A rejected reply is not part of the messages, and a recovered one was text: their calls are kept here. */
function callsOf(toolCalls: readonly ToolCall[]): { calls?: string } {
  if (toolCalls.length === 0) return {};
  return { calls: JSON.stringify(toolCalls.map((call) => ({ name: call.name, arguments: call.arguments }))) };
}
