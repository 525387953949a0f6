// Stop policy: a list of small predicates over the record. The first that fires decides.
import { LOOP_REASONS, type Outcome } from "../../core/index.ts";
import { completionPhrases } from "./completion-phrases.ts";
import { maxNoToolTurns } from "./max-no-tool-turns.ts";
import { maxRepeatedCalls } from "./max-repeated-calls.ts";
import { maxRolloutCost } from "./max-rollout-cost.ts";
import { maxRolloutSeconds } from "./max-rollout-seconds.ts";
import { maxRolloutTokens } from "./max-rollout-tokens.ts";
import { maxToolErrors } from "./max-tool-errors.ts";
import { maxTurns } from "./max-turns.ts";
import type { Progress, Stop, StopCondition } from "./stop-condition.ts";

export const STOP_CONDITIONS = [
  maxRolloutTokens,
  maxRolloutCost,
  maxRolloutSeconds,
  maxToolErrors,
  maxRepeatedCalls,
  maxTurns,
  maxNoToolTurns,
  completionPhrases,
] as const;

/** Every stop reason, with the `success` that it carries. */
export const STOP_REASONS: { readonly [reason: string]: boolean } = Object.assign(
  {},
  LOOP_REASONS,
  ...STOP_CONDITIONS.map(({ reasons }) => reasons),
);

/** `maxMs`: a dialogue may not take longer, whatever it is waiting for. */
export type StopPolicy = ((progress: Progress) => Outcome | undefined) & { maxMs?: number };

/** The policy for these values of the conditions' keys. */
export function createStopPolicy(values: { [key: string]: unknown }): StopPolicy {
  const conditions = (STOP_CONDITIONS as readonly unknown[] as StopCondition[]).flatMap(({ key, create }) => {
    const value = values[key];
    return value === undefined || value === null || value === false ? [] : [create(value)];
  });
  const policy = (progress: Progress) => {
    for (const condition of conditions) {
      const stop = condition(progress);
      if (stop) return toOutcome(stop);
    }
    return undefined;
  };
  const seconds = values[maxRolloutSeconds.key];
  return Object.assign(policy, typeof seconds === "number" ? { maxMs: seconds * 1000 } : {});
}

function toOutcome(stop: Stop): Outcome {
  return { success: STOP_REASONS[stop.stopReason] ?? false, ...stop };
}
