// Answering the tool calls of one reply: neighbouring read-only calls run concurrently, everything else in order; results
// always come out in call order.
import {
  type CallParty,
  type Clock,
  type Environment,
  type ReplyEntry,
  type ToolCall,
  type ToolResult,
  type ToolResultEntry,
  timestamp,
} from "../core/index.ts";
import { limitResult } from "../tools/index.ts";
import { repairResult } from "./repair.ts";

type Answering = {
  environment: Pick<Environment, "call" | "isReadOnly">;
  clock: Clock;
  signal: AbortSignal;
  by?: CallParty;
};

export async function* answerCalls(
  answering: Answering,
  calls: readonly ToolCall[],
): AsyncGenerator<ToolResultEntry, void, void> {
  const { environment, clock, signal, by } = answering;
  for (let next = 0; next < calls.length; ) {
    let end = next + 1;
    if (environment.isReadOnly(nameAt(calls, next))) {
      while (end < calls.length && environment.isReadOnly(nameAt(calls, end))) end++;
    }
    const group = calls.slice(next, end);
    const results = await Promise.all(group.map((call) => environment.call(by ? { ...call, by } : call, signal)));
    for (const [index, result] of results.entries())
      yield toResultEntry(group[index] as ToolCall, result, { at: timestamp(clock), by });
    next = end;
  }
}

export function toResultEntry(
  { id, name }: Pick<ToolCall, "id" | "name">,
  result: ToolResult,
  { at, by }: Pick<ToolResultEntry, "at" | "by">,
): ToolResultEntry {
  return { type: "tool-result", ...(by && { by }), callId: id, name, ...repairResult(limitResult(result)), at };
}

/** Ids must be unique within the dialogue; if the model's are missing or repeated, the original is kept too. */
export function withUniqueIds(reply: ReplyEntry, used: ReadonlySet<string>): ReplyEntry {
  if (reply.toolCalls.length === 0) return reply;
  const own = new Set<string>();
  const toolCalls = reply.toolCalls.map((call) => {
    let id = call.id;
    for (let n = used.size + own.size; id === "" || used.has(id) || own.has(id); n++) id = `call_${n}`;
    own.add(id);
    return id === call.id ? call : { ...call, id, originalId: call.id };
  });
  return { ...reply, toolCalls };
}

function nameAt(calls: readonly ToolCall[], index: number): string {
  return (calls[index] as ToolCall).name;
}
