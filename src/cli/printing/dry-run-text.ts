// A run that is only planned: what it would make, roughly what it would take, and what a pilot measured.
import { addCosts, type Cost, knownCost, NO_COST } from "../../core/index.ts";
import {
  ASSUMPTIONS,
  type DryDataset,
  type Pilot,
  type PilotDataset,
  type Spread,
  scale,
} from "../../estimates/index.ts";
import { costText, unknownCostLines } from "./cost-text.ts";
import { count, duration, printableName, table } from "./terminal.ts";

const HEADER = ["dataset", "queries", "rollouts", "there", "tools", "agent", "user", "mode", "calls", "tokens", "cost"];

/** `folder` as it is to be shown; with a pilot, something is written. */
type PlannedRun = { maxWorkers: number; folder: string; pilot?: boolean; split?: string };

export function dryRunLines(datasets: DryDataset[], run: PlannedRun): string[] {
  const rows = datasets.map((dataset) => {
    const { estimate } = dataset;
    const left = leftOf(dataset);
    return [
      dataset.name,
      String(dataset.queries),
      String(dataset.rollouts),
      String(dataset.kept),
      String(dataset.tools),
      dataset.agent,
      dataset.user ?? "–",
      dataset.mode,
      `~${count(left * estimate.calls)}`,
      `~${count(left * (estimate.inputTokens + estimate.outputTokens))}`,
      costText(scaleCost(estimate, left), { names: false, show: (dollars) => `~${money(dollars)}` }),
    ];
  });
  const total = (part: (dataset: DryDataset) => number) =>
    datasets.reduce((sum, dataset) => sum + leftOf(dataset) * part(dataset), 0);
  const tokens = total(({ estimate }) => estimate.inputTokens + estimate.outputTokens);
  const whole = datasets.map((dataset) => scaleCost(dataset.estimate, leftOf(dataset))).reduce(addCosts, NO_COST);
  const cost = `${knownCost(whole) === 0 && whole.costUsd === null ? "cost " : ""}${costText(whole, { show: money })}`;
  const seconds = total(({ estimate }) => estimate.seconds) / run.maxWorkers;
  return [
    ...table([HEADER, ...rows], { right: [1, 2, 3, 4, 8, 9, 10] }),
    ...datasets.flatMap(({ warnings }) => warnings),
    "",
    ...(run.split ? [shareText(datasets, run.split)] : []),
    ...datasets.map(({ name, output }) => printableName(`${name} → ${output}`)),
    `${datasets.reduce((sum, dataset) => sum + leftOf(dataset), 0)} rollouts to make, ${run.maxWorkers} at once, run folder ${run.folder}.${run.pilot ? "" : " Nothing was written."}`,
    `About ${count(total(({ estimate }) => estimate.calls))} model calls, ${count(tokens)} tokens, ${cost}${seconds > 0 ? `, ${duration(seconds * 1000)}` : ""}.`,
    ...unknownCostLines(whole),
    ASSUMPTIONS,
  ];
}

export function pilotLines(pilot: Pilot, planned: DryDataset[], run: PlannedRun): string[] {
  const measured = table(
    [
      ["pilot", "rollouts", "calls each", "tokens each", "cost each", "time each"],
      ...pilot.datasets.map(({ name, rollouts, calls, tokens, costUsd, seconds }) => [
        name,
        String(rollouts),
        calls.mean.toFixed(1),
        count(tokens.mean),
        costUsd ? money(costUsd.mean) : "unknown",
        duration(seconds.mean * 1000),
      ]),
    ],
    { right: [1, 2, 3, 4, 5] },
  );
  const rollouts = new Map(planned.map((dataset) => [dataset.name, leftOf(dataset)]));
  const rows = pilot.datasets.map((dataset) => extrapolate(dataset, rollouts.get(dataset.name) ?? 0, run.maxWorkers));
  return [
    "",
    ...measured,
    "",
    ...table([["the whole", "rollouts", "tokens", "cost", "time"], ...rows], { right: [1] }),
    ...unknownCostLines(pilot.datasets.map(({ cost }) => cost).reduce(addCosts, NO_COST)),
    ...(pilot.failed > 0 ? [`${pilot.failed} rollouts of the pilot failed for infrastructure reasons.`] : []),
    `Ranges hold with 95 % confidence if the first queries are like the rest. The pilot's rollouts are in ${run.folder}.`,
  ];
}

function extrapolate({ name, ...each }: PilotDataset, left: number, workers: number): string[] {
  const seconds = scale(each.seconds, left / Math.min(workers, Math.max(left, 1)));
  return [
    name,
    String(left),
    range(scale(each.tokens, left), count),
    each.costUsd ? range(scale(each.costUsd, left), money) : "unknown",
    range(seconds, (value) => duration(value * 1000)),
  ];
}

function range({ mean, low, high }: Spread, show: (value: number) => string): string {
  if (low === undefined || high === undefined || show(low) === show(high)) return show(mean);
  return `${show(mean)} (${show(low)} – ${show(high)})`;
}

function shareText(datasets: DryDataset[], split: string): string {
  const total = (part: (dataset: DryDataset) => number) => datasets.reduce((sum, dataset) => sum + part(dataset), 0);
  return `Share ${split}: ${total(({ queries }) => queries)} of ${total(({ shareOf = 0 }) => shareOf)} queries.`;
}

function leftOf({ rollouts, kept }: DryDataset): number {
  return rollouts - kept;
}

/** For this many rollouts. */
function scaleCost({ costUsd, costKnownUsd = 0, costUnknownOf }: Cost, factor: number): Cost {
  if (costUsd !== null) return { costUsd: costUsd * factor };
  return { costUsd: null, costKnownUsd: costKnownUsd * factor, costUnknownOf };
}

function money(dollars: number): string {
  return dollars === 0 ? "$0" : dollars < 0.995 ? `$${Number(dollars.toPrecision(2))}` : `$${dollars.toFixed(2)}`;
}
