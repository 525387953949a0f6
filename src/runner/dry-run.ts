// What a run would do, without doing or writing any of it.
import { keyText, roundFiles, scanFinished } from "../runs/index.ts";
import { outputOf } from "./begin-run.ts";
import type { CreateNetworkClient } from "./clients.ts";
import { estimateRollout, type RolloutEstimate } from "./estimate.ts";
import { placeRun } from "./place-run.ts";
import { chooseQueries, requireKnownIds } from "./plan.ts";
import { preflight } from "./preflight.ts";
import { prepareDataset } from "./prepare.ts";
import type { RunResources } from "./resources.ts";
import type { RunSpec } from "./spec.ts";

export type DryDataset = {
  name: string;
  servers: string[];
  queries: number;
  rollouts: number;
  kept: number;
  tools: number;
  agent: string;
  user: string | undefined;
  mode: string;
  output: string;
  /** of one rollout */
  estimate: RolloutEstimate;
  warnings: string[];
};

export async function dryRun(
  asked: RunSpec,
  preparing: { createNetworkClient: CreateNetworkClient; resources: RunResources },
): Promise<DryDataset[]> {
  const run = placeRun(asked);
  const all = await Promise.all(run.datasets.map((spec) => prepareDataset(run, spec, preparing)));
  requireKnownIds(run, all);
  const datasets: DryDataset[] = [];
  for (const prepared of all) {
    const { spec } = prepared;
    const chosen = chooseQueries(run, prepared);
    const wanted = new Set(chosen.flatMap((query) => rolloutsOf(run, spec.name, prepared.queries.id(query))));
    const output = outputOf(run, spec);
    let kept = 0;
    for (const file of run.resume ? roundFiles(output) : []) {
      scanFinished(file, spec.name, (record) => {
        if (wanted.delete(keyText(record))) kept++;
      });
    }
    datasets.push({
      name: spec.name,
      servers: prepared.domain.servers,
      queries: chosen.length,
      rollouts: chosen.length * run.rollouts,
      kept,
      tools: prepared.domain.toolbox.tools.length,
      agent: prepared.agent.id,
      user: prepared.user?.id,
      mode: spec.mode,
      output,
      estimate: await estimateRollout(run, prepared),
      warnings: await preflight(run, [prepared]),
    });
  }
  return datasets;
}

function rolloutsOf(run: RunSpec, dataset: string, queryId: string): string[] {
  return Array.from({ length: run.rollouts }, (_, rollout) => keyText({ dataset, queryId, rollout }));
}
