// `--eval`: each rollout is scored soon after it is finished, beside the rollouts that still go on.
import type { RunEvent } from "../core/index.ts";
import {
  chooseChecks,
  createScriptedJudge,
  Evaluation,
  type EvaluationOptions,
  type EvaluationSettings,
} from "../scoring/index.ts";
import type { CreateNetworkClient } from "./clients.ts";

export type Scoring = { onEvent(event: RunEvent): void; finish(): Promise<void>; close(): Promise<void> };

export type ScoringPlan = Pick<EvaluationOptions, "checks" | "judge">;

/** Finds the checks and the judge; every mistake in the settings shows here. */
export async function planScoring(
  settings: EvaluationSettings,
  createNetworkClient: CreateNetworkClient,
): Promise<ScoringPlan> {
  const judge = openJudge(settings, createNetworkClient);
  return { checks: await chooseChecks(settings, judge !== undefined), ...(judge ? { judge } : {}) };
}

export function scoreAsItGoes(options: EvaluationOptions): Scoring {
  const evaluation = new Evaluation(options);
  let failure: unknown;
  let waiting = false;
  return {
    onEvent(event) {
      if (event.type !== "rollout-end" || waiting) return;
      waiting = true;
      // what ends while one pass is under way is scored by the next
      setImmediate(() => {
        waiting = false;
        evaluation.catchUp().catch((error: unknown) => {
          failure ??= error;
        });
      });
    },
    async finish() {
      if (failure) throw failure;
      await evaluation.catchUp();
    },
    close: () => evaluation.close(),
  };
}

function openJudge(settings: EvaluationSettings, createNetworkClient: CreateNetworkClient): EvaluationOptions["judge"] {
  const { judge_model: model, votes = 1 } = settings;
  if (!model) return undefined;
  const client = model.startsWith("scripted/judge")
    ? createScriptedJudge(model)
    : createNetworkClient({ model, settings: { temperature: votes > 1 ? 0.7 : 0 } });
  return { client, votes };
}
