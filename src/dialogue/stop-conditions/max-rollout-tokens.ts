import { z } from "zod";
import { sumUsage } from "../../core/index.ts";
import { defineStopCondition } from "./stop-condition.ts";

export const maxRolloutTokens = defineStopCondition({
  key: "max_rollout_tokens",
  schema: z.int().positive().optional().describe("tokens that one rollout may use"),
  reasons: { token_budget: false },
  create:
    (limit) =>
    ({ entries }) => {
      const { inputTokens, outputTokens } = sumUsage(entries);
      const total = inputTokens + outputTokens;
      if (total <= limit) return undefined;
      return { stopReason: "token_budget", message: `${total} tokens used, ${limit} allowed` };
    },
});
