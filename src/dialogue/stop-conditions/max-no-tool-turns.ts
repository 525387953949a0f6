import { z } from "zod";
import type { Entry } from "../../core/index.ts";
import { defineStopCondition } from "./stop-condition.ts";

/** A turn is everything from a user message to the agent's answer. */
export const maxNoToolTurns = defineStopCondition({
  key: "monitor_max_no_tool_turns",
  schema: z.int().positive().default(5).describe("stop after so many turns in a row without a tool call"),
  reasons: { max_no_tool_turns: true },
  create:
    (limit) =>
    ({ entries, turnEnded }) => {
      if (!turnEnded) return undefined;
      const lastCall = entries.findLastIndex((entry) => entry.type === "tool-result" && entry.by !== "setup");
      const answers = entries.slice(lastCall + 1).filter(isAnswer).length;
      // the first answer after a tool call belongs to the turn of that call
      const turns = lastCall === -1 ? answers : answers - 1;
      return turns >= limit ? { stopReason: "max_no_tool_turns" } : undefined;
    },
});

function isAnswer(entry: Entry): boolean {
  return entry.type === "reply" && entry.by === "agent" && !entry.rejected;
}
