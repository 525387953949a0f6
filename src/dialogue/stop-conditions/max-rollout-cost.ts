import { z } from "zod";
import { knownCost, sumUsage } from "../../core/index.ts";
import { defineStopCondition } from "./stop-condition.ts";

export const maxRolloutCost = defineStopCondition({
  key: "max_rollout_cost",
  schema: z.number().positive().optional().describe("dollars that one rollout may cost"),
  reasons: { cost_budget: false },
  create:
    (limit) =>
    ({ entries }) => {
      const costUsd = knownCost(sumUsage(entries));
      if (costUsd <= limit) return undefined;
      return { stopReason: "cost_budget", message: `$${costUsd.toFixed(4)} spent, $${limit} allowed` };
    },
});
