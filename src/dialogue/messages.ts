// The dialogue as a trajectory keeps it: everything that was said, reasoning included, without what was rejected.
import type { Entry, OpeningMessage, Query, ToolCall, TrajectoryMessage } from "../core/index.ts";
import { readUserText } from "./end-tokens.ts";

export function toMessages(opening: readonly OpeningMessage[], entries: readonly Entry[]): TrajectoryMessage[] {
  const messages: TrajectoryMessage[] = opening.map(({ role, content }) => ({ role, content }));
  for (const entry of entries) {
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

function toCall({ id, name, arguments: text }: ToolCall) {
  return { id, type: "function" as const, function: { name, arguments: text } };
}

/** What went wrong during the rollout without ending it, or as evidence of why it ended. */
export function faultsOf(entries: readonly Entry[], query?: Pick<Query, "repairedTexts">): Fault[] {
  return [
    ...entries.flatMap(faultsIn),
    ...otherModels(entries),
    ...changesIn(entries, "repairedTexts", query?.repairedTexts ?? 0),
    ...changesIn(entries, "redactedTexts"),
  ];
}

type Fault = { type: string; [detail: string]: string };

function faultsIn(entry: Entry): Fault[] {
  if (entry.type === "reply") {
    const faults: Fault[] = [];
    if (entry.rejected)
      faults.push({ type: entry.rejected, by: entry.by, content: entry.content, ...callsOf(entry.toolCalls) });
    if (entry.ignoredCalls) faults.push({ type: "calls_with_tools_off", by: entry.by, ...callsOf(entry.ignoredCalls) });
    if (entry.recovered) faults.push({ type: "recovered", by: entry.by, ...callsOf(entry.toolCalls) });
    if (entry.droppedUsage) faults.push({ type: "dropped_usage", by: entry.by, counts: entry.droppedUsage.join(", ") });
    for (const call of entry.toolCalls) {
      if (call.originalId !== undefined)
        faults.push({ type: "call_id_replaced", call_id: call.id, original_id: call.originalId });
    }
    return faults;
  }
  if (entry.type !== "tool-result") return [];
  const { callId: call_id, name: tool, injected, fault } = entry;
  const faults: Fault[] = entry.sentBefore ? [{ type: "call_in_flight", tool, call_id }] : [];
  if (injected) faults.push({ type: "injected", trouble: injected, call_id });
  else if (fault && fault !== "tool_error") faults.push({ type: fault, call_id });
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
    const by = entry.type === "reply" ? entry.by : "tool";
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
