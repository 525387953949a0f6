// What a run would do, without doing or writing any of it.
import type { ResolvedRun } from "../config/index.ts";
import { systemClock, type Variables } from "../core/index.ts";
import { openResources } from "../domains/index.ts";
import { openNetwork } from "../models/index.ts";
import {
  chooseOutputs,
  chooseQueries,
  networkOptions,
  outputOf,
  prepareDataset,
  requireKnownIds,
  requireKnownRecords,
  withOurIds,
} from "../runner/index.ts";
import { keyText, roundFiles, scanRecords } from "../runs/index.ts";
import { estimateRollout, type RolloutEstimate } from "./estimate.ts";
import { preflight } from "./preflight.ts";

export type DryDataset = {
  name: string;
  servers: string[];
  queries: number;
  /** of how many it is a share, if it is one */
  shareOf?: number;
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

export async function dryRun(asked: ResolvedRun, { env }: { env: Variables }): Promise<DryDataset[]> {
  const run = chooseOutputs(asked);
  const { config } = run;
  const network = openNetwork({ ...networkOptions(run), env, clock: systemClock });
  const { tool_names: nameStyle, python, tool_timeout: toolSeconds } = config;
  const resources = openResources({ env, nameStyle, python, toolSeconds, onNotice: () => {} });
  try {
    const preparing = { createNetworkClient: network.createClient, resources };
    const all = await Promise.all(run.datasets.map((spec) => prepareDataset(run, spec, preparing)));
    requireKnownIds(run, all);
    requireKnownRecords(run, all);
    const datasets: DryDataset[] = [];
    for (const prepared of all) {
      const { spec } = prepared;
      const chosen = chooseQueries(config, prepared);
      const wanted = new Set(chosen.flatMap((query) => rolloutKeys(run, spec.name, prepared.queries.id(query))));
      const output = outputOf(run.folder, spec);
      let kept = 0;
      for (const file of config.resume ? roundFiles(output) : []) {
        const place = { dataset: spec.name, shared: true };
        const onRecord = withOurIds(prepared, (record) => {
          if (wanted.delete(keyText(record))) kept++;
        });
        for (const { examined } of scanRecords(file, place))
          if (typeof examined === "object") onRecord(examined.record);
      }
      datasets.push({
        name: spec.name,
        servers: prepared.domain.servers,
        queries: chosen.length,
        shareOf: config.split ? chooseQueries({ ...config, split: undefined }, prepared).length : undefined,
        rollouts: chosen.length * config.rollouts,
        kept,
        tools: prepared.domain.toolbox.tools.length,
        agent: prepared.agent.id,
        user: prepared.user?.id,
        mode: spec.mode,
        output,
        estimate: await estimateRollout(prepared),
        warnings: await preflight(run, [prepared]),
      });
    }
    return datasets;
  } finally {
    await Promise.all([network.close(), resources.close()]);
  }
}

function rolloutKeys({ config }: ResolvedRun, dataset: string, queryId: string): string[] {
  return Array.from({ length: config.rollouts }, (_, rollout) => keyText({ dataset, queryId, rollout }));
}
