// A short run for real, into a folder of its own, and what it says about the whole: means with the interval that so few
// rollouts allow.
import { join } from "node:path";
import type { Trajectory } from "../core/index.ts";
import { parseJson } from "../core/index.ts";
import { scanLines } from "../runs/index.ts";
import type { ResolvedRun } from "./config/resolve.ts";
import { type RunResolvedOptions, runResolved } from "./run-resolved.ts";

/** A mean, and where the true one lies with 95 % confidence; a single rollout tells nothing about that. */
export type Spread = { mean: number; low?: number; high?: number };

export type PilotDataset = {
  name: string;
  rollouts: number;
  calls: Spread;
  tokens: Spread;
  costUsd: Spread;
  seconds: Spread;
};

export type Pilot = { folder: string; failed: number; left: number; datasets: PilotDataset[] };

/** The first `queries` queries of each dataset, once each. */
export async function runPilot(resolved: ResolvedRun, queries: number, options: RunResolvedOptions): Promise<Pilot> {
  const { run } = resolved;
  const folder = join(`${run.folder}.pilot`);
  const datasets = run.datasets.map(({ output: _output, ...dataset }) => dataset);
  const pilot = {
    ...run,
    folder,
    datasets,
    rollouts: 1,
    limit: Math.min(queries, run.limit ?? queries),
    resume: false,
  };
  const result = await runResolved({ ...resolved, run: pilot }, options);
  const measured = Object.entries(result.outputs).map(([name, file]) => measure(name, file));
  return { folder: result.folder, failed: result.failed, left: result.left, datasets: measured };
}

/** For so many more rollouts. */
export function scale({ mean, low, high }: Spread, factor: number): Spread {
  return {
    mean: mean * factor,
    ...(low !== undefined && high !== undefined ? { low: low * factor, high: high * factor } : {}),
  };
}

export function spreadOf(values: readonly number[]): Spread {
  const n = values.length;
  if (n === 0) return { mean: 0 };
  const mean = values.reduce((sum, value) => sum + value, 0) / n;
  if (n === 1) return { mean };
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (n - 1);
  const margin = studentT(n - 1) * Math.sqrt(variance / n);
  return { mean, low: Math.max(0, mean - margin), high: mean + margin };
}

function measure(name: string, file: string): PilotDataset {
  const rows: { calls: number; tokens: number; costUsd: number; seconds: number }[] = [];
  scanLines(file, ({ bytes }) => {
    const { metadata } = parseJson(bytes.toString("utf8")) as unknown as Trajectory;
    const usages = Object.values(metadata.usage);
    rows.push({
      calls: usages.reduce((sum, usage) => sum + usage.calls, 0),
      tokens: usages.reduce((sum, usage) => sum + usage.input_tokens + usage.output_tokens, 0),
      costUsd: metadata.cost_usd,
      seconds: metadata.timings.duration_ms / 1000,
    });
  });
  const spread = (part: keyof (typeof rows)[number]) => spreadOf(rows.map((row) => row[part]));
  return {
    name,
    rollouts: rows.length,
    calls: spread("calls"),
    tokens: spread("tokens"),
    costUsd: spread("costUsd"),
    seconds: spread("seconds"),
  };
}

/** Two-sided 95 % quantiles of Student's distribution, by degrees of freedom. */
const QUANTILES = [12.71, 4.3, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23];

function studentT(freedom: number): number {
  return QUANTILES[freedom - 1] ?? (freedom < 30 ? 2.13 : 1.98);
}
