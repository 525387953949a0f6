// The checks and the judge that score a run: found before anything is scored, so that every mistake in the settings shows.
import type { CreateNetworkClient } from "../models/index.ts";
import { chooseChecks } from "./check-list.ts";
import type { EvaluationOptions } from "./evaluate.ts";
import { createScriptedJudge } from "./judge/scripted-judge.ts";
import { type EvaluationSettings, VOTES } from "./settings.ts";

export type Scorer = Pick<EvaluationOptions, "checks" | "judge" | "only">;

/** `true` asks for the default settings. */
export async function createScorer(
  settings: EvaluationSettings | true,
  createNetworkClient: CreateNetworkClient,
): Promise<Scorer> {
  const given = settings === true ? {} : settings;
  const judge = openJudge(given, createNetworkClient);
  const checks = await chooseChecks(given, judge !== undefined);
  return { checks, judge, only: given.checks && checks.map(({ name }) => name) };
}

function openJudge(
  { judge_model: model, votes = VOTES }: EvaluationSettings,
  createNetworkClient: CreateNetworkClient,
): EvaluationOptions["judge"] {
  if (!model) return undefined;
  const client = model.startsWith("scripted/judge")
    ? createScriptedJudge(model)
    : createNetworkClient({ model, settings: { temperature: votes > 1 ? 0.7 : 0 } });
  return { client, votes };
}
