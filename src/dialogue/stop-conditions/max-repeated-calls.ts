import { z } from "zod";
import type { Entry, ToolResultEntry } from "../../core/index.ts";
import { defineStopCondition } from "./stop-condition.ts";

/** With no other call in between. */
export const maxRepeatedCalls = defineStopCondition({
  key: "monitor_max_repeated_calls",
  schema: z
    .int()
    .positive()
    .default(5)
    .describe("stop after the same call with the same result so many times in a row"),
  reasons: { repeated_calls: false },
  create:
    (limit) =>
    ({ entries }) => {
      if (entries.at(-1)?.type !== "tool-result") return undefined;
      const last = sameResults(entries, limit);
      const isRepeated = last.length === limit && new Set(last.map((result) => callOf(entries, result))).size === 1;
      return isRepeated ? { stopReason: "repeated_calls", blame: "agent" } : undefined;
    },
});

/** The agent's latest results, as far back as they are the same and no more than the limit. */
function sameResults(entries: readonly Entry[], limit: number): ToolResultEntry[] {
  const results: ToolResultEntry[] = [];
  for (let at = entries.length - 1; at >= 0 && results.length < limit; at--) {
    const entry = entries[at] as Entry;
    if (entry.type !== "tool-result" || entry.by) continue;
    if (results[0] && entry.content !== results[0].content) break;
    results.push(entry);
  }
  return results;
}

/** Name and arguments. */
function callOf(entries: readonly Entry[], { callId }: ToolResultEntry): string | undefined {
  for (let at = entries.length - 1; at >= 0; at--) {
    const entry = entries[at] as Entry;
    const call = entry.type === "reply" ? entry.toolCalls.findLast(({ id }) => id === callId) : undefined;
    if (call) return `${call.name} ${call.arguments}`;
  }
  return undefined;
}
