import { z } from "zod";
import { defineStopCondition } from "./stop-condition.ts";

export const maxToolErrors = defineStopCondition({
  key: "monitor_max_tool_errors",
  schema: z.int().positive().optional().describe("stop after so many tool errors"),
  reasons: { too_many_tool_errors: false },
  create:
    (limit) =>
    ({ entries }) => {
      const errors = entries.filter((entry) => entry.type === "tool-result" && !entry.by && entry.isError).length;
      if (errors < limit) return undefined;
      return { stopReason: "too_many_tool_errors", blame: "agent", message: `${errors} tool errors` };
    },
});
