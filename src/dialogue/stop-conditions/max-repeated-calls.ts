import { z } from "zod";
import type { Entry } from "../../core/index.ts";
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
      const last = listAnsweredCalls(entries).slice(-limit);
      const isRepeated = last.length === limit && last.every((call) => call === last[0]);
      return isRepeated ? { stopReason: "repeated_calls", blame: "agent" } : undefined;
    },
});

/** Each answered call as one text: name, arguments, result. */
function listAnsweredCalls(entries: readonly Entry[]): string[] {
  const calls = new Map<string, string>();
  for (const entry of entries) {
    if (entry.type !== "reply") continue;
    for (const call of entry.toolCalls) calls.set(call.id, `${call.name} ${call.arguments}`);
  }
  return entries.flatMap((entry) =>
    entry.type === "tool-result" && !entry.by ? [`${calls.get(entry.callId)} ${entry.content}`] : [],
  );
}
