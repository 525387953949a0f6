import { z } from "zod";
import { defineStopCondition } from "./stop-condition.ts";

export const maxNoToolTurns = defineStopCondition({
  key: "monitor_max_no_tool_turns",
  schema: z.int().positive().default(5).describe("stop after so many turns in a row without a tool call"),
  reasons: { max_no_tool_turns: true },
  create:
    (limit) =>
    ({ entries, turnEnded }) => {
      if (!turnEnded) return undefined;
      let turns = 0;
      for (const entry of entries.toReversed()) {
        if (entry.type === "tool-result") return undefined;
        if (entry.type !== "reply" || entry.rejected) continue;
        if (entry.by === "agent" && ++turns >= limit) return { stopReason: "max_no_tool_turns" };
      }
      return undefined;
    },
});
