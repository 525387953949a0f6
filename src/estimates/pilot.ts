// A short real run, into its own folder, and what it says about the whole: means with the interval that so few
// rollouts allow.
import type { ResolvedRun } from "../config/index.ts";
import { addCosts, type Cost, countUsedTokens, NO_COST, readCost, sum } from "../core/index.ts";
import { type MakeOptions, makeRollouts, outputOf } from "../runner/index.ts";
import { readTrajectories, roundFiles } from "../runs/index.ts";
import { studentT975 } from "../scoring/index.ts";

/** A mean and its 95 % confidence interval; a single rollout gives no interval. */
export type Spread = { mean: number; low?: number; high?: number };

export type PilotDataset = {
  name: string;
  rollouts: number;
  calls: Spread;
  tokens: Spread;
  /** undefined if a cost is not known */
  costUsd: Spread | undefined;
  /** of all its rollouts */
  cost: Cost;
  seconds: Spread;
};

export type Pilot = { folder: string; failed: number; left: number; datasets: PilotDataset[] };

/** The first `queries` queries of each dataset, once each. */
export async function runPilot(run: ResolvedRun, queries: number, options: MakeOptions): Promise<Pilot> {
  const datasets = run.datasets.map((dataset) => ({ ...dataset, output: undefined }));
  const limit = Math.min(queries, run.config.limit ?? queries);
  const config = { ...run.config, rollouts: 1, limit, split: undefined, resume: false };
  const result = await makeRollouts({ ...run, config, datasets, folder: `${run.folder}.pilot` }, options);
  const filesOf = (dataset: (typeof datasets)[number]) => roundFiles(outputOf(result.folder, dataset));
  const measured = datasets.map((dataset) => measure(dataset.name, filesOf(dataset)));
  return { folder: result.folder, failed: result.failed, left: result.left, datasets: measured };
}

/** Scaled to `factor` times as many rollouts. */
export function scale({ mean, low, high }: Spread, factor: number): Spread {
  return {
    mean: mean * factor,
    low: low === undefined ? undefined : low * factor,
    high: high === undefined ? undefined : high * factor,
  };
}

export function spreadOf(values: readonly number[]): Spread {
  const n = values.length;
  if (n === 0) return { mean: 0 };
  const mean = sum(values) / n;
  if (n === 1) return { mean };
  const variance = sum(values.map((value) => (value - mean) ** 2)) / (n - 1);
  const margin = studentT975(n - 1) * Math.sqrt(variance / n);
  return { mean, low: Math.max(0, mean - margin), high: mean + margin };
}

function measure(name: string, files: readonly string[]): PilotDataset {
  const rows: { calls: number; tokens: number; costUsd: number; seconds: number }[] = [];
  let cost = NO_COST;
  for (const { trajectory } of readAll(files, name)) {
    const { metadata } = trajectory;
    const usages = Object.values(metadata.usage);
    cost = addCosts(cost, readCost(metadata));
    rows.push({
      calls: sum(usages.map(({ calls }) => calls)),
      tokens: countUsedTokens(metadata).tokens,
      costUsd: metadata.cost_usd ?? 0,
      seconds: metadata.timings.duration_ms / 1000,
    });
  }
  const spread = (part: keyof (typeof rows)[number]) => spreadOf(rows.map((row) => row[part]));
  return {
    name,
    rollouts: rows.length,
    calls: spread("calls"),
    tokens: spread("tokens"),
    costUsd: cost.costUsd === null ? undefined : spread("costUsd"),
    cost,
    seconds: spread("seconds"),
  };
}

function* readAll(files: readonly string[], dataset: string) {
  for (const file of files) yield* readTrajectories(file, dataset, () => {});
}
