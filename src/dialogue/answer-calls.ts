// Answering the tool calls of one reply: neighbouring read-only calls run concurrently, everything else in order; results
// always come out in call order.
import type { CallParty, Environment, ReplyEntry, ToolCall, ToolResult, ToolResultEntry } from "../core/index.ts";
import { limitResult } from "../tools/index.ts";
import { repairResult } from "./repair.ts";

type Answering = { environment: Pick<Environment, "call">; signal: AbortSignal; by?: CallParty };

/** Calls of one group may run at once. */
export function groupCalls(environment: Pick<Environment, "isReadOnly">, calls: readonly ToolCall[]): ToolCall[][] {
  const groups: ToolCall[][] = [];
  let readsOnly = false;
  for (const call of calls) {
    const isRead = environment.isReadOnly(call.name);
    if (isRead && readsOnly) (groups.at(-1) as ToolCall[]).push(call);
    else groups.push([call]);
    readsOnly = isRead;
  }
  return groups;
}

export async function answerGroup(
  { environment, signal, by }: Answering,
  group: readonly ToolCall[],
): Promise<ToolResult[]> {
  const results = await Promise.all(group.map((call) => environment.call(by ? { ...call, by } : call, signal)));
  return results.map(admitResult);
}

/** As the dialogue takes it up, whatever a tool returned. */
export function admitResult(result: ToolResult): ToolResult {
  return repairResult(limitResult(result));
}

export function toResultEntry(
  { id, name }: Pick<ToolCall, "id" | "name">,
  result: ToolResult,
  { at, by }: Pick<ToolResultEntry, "at" | "by">,
): ToolResultEntry {
  return { type: "tool-result", ...(by && { by }), callId: id, name, ...result, at };
}

/** Ids must be unique within the dialogue; if the model's are missing or repeated, the original is kept too. */
export function withUniqueIds(reply: ReplyEntry, used: ReadonlySet<string>): ReplyEntry {
  const [first, ...others] = reply.toolCalls;
  if (!first || (others.length === 0 && first.id !== "" && !used.has(first.id))) return reply;
  const own = new Set<string>();
  const toolCalls = reply.toolCalls.map((call) => {
    let id = call.id;
    for (let n = used.size + own.size; id === "" || used.has(id) || own.has(id); n++) id = `call_${n}`;
    own.add(id);
    return id === call.id ? call : { ...call, id, originalId: call.id };
  });
  return { ...reply, toolCalls };
}
