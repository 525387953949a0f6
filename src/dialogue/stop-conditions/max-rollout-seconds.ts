import { z } from "zod";
import { defineStopCondition } from "./stop-condition.ts";

export const maxRolloutSeconds = defineStopCondition({
  key: "max_rollout_seconds",
  schema: z.number().positive().optional().describe("seconds that one rollout may take"),
  reasons: { time_limit: false },
  create:
    (seconds) =>
    ({ elapsedMs }) =>
      elapsedMs > seconds * 1000 ? { stopReason: "time_limit", message: `longer than ${seconds} s` } : undefined,
});
