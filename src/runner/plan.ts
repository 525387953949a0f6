// What is left to do: everything asked for, less what the run folder holds. Nothing is kept of a rollout that is done.
import { type DatasetPlan, didYouMean, type Entry, rolloutSeed, UsageError } from "../core/index.ts";
import { defaultOutput, keyText, type RunFolder, type Unfinished } from "../runs/index.ts";
import { describeDrift, rolloutFingerprint } from "./fingerprint.ts";
import type { PlannedRollout } from "./play-rollout.ts";
import type { PreparedDataset } from "./prepare.ts";
import type { RunSpec } from "./spec.ts";

export const MAX_ATTEMPTS = 3;

export type WorkItem = { dataset: PreparedDataset; query: number; rollout: number };

export type RunPlan = {
  datasets: DatasetPlan[];
  items: WorkItem[];
  /** rollouts that failed three times, or that may not be tried again */
  givenUp: number;
  planned(item: WorkItem): PlannedRollout;
};

export function planRun(run: RunSpec, datasets: PreparedDataset[], folder: RunFolder): RunPlan {
  const unfinished = folder.takeUnfinished();
  const items: WorkItem[] = [];
  const counts: DatasetPlan[] = [];
  const drifting = new Set<string>();
  let givenUp = 0;
  const drift: string[] = [];
  for (const dataset of datasets) {
    const { name } = dataset.spec;
    const finished = new Map<string, string>();
    folder.openOutput(name, dataset.spec.output ?? defaultOutput(folder.path, name), (record) => {
      if (record.dataset === name) finished.set(keyText(record), record.fingerprint);
    });
    const count: DatasetPlan = { name, planned: 0, kept: 0, continuing: 0, retrying: 0 };
    const changedQueries: string[] = [];
    for (const query of chooseQueries(run, dataset)) {
      const fingerprint = fingerprintOf(dataset, query);
      for (let rollout = 0; rollout < run.rollouts; rollout++) {
        count.planned++;
        const key = keyText({ dataset: name, queryId: dataset.queries.id(query), rollout });
        const made = finished.get(key);
        const begun = unfinished.get(key);
        const earlier = made ?? begun?.fingerprint;
        if (earlier && earlier !== fingerprint) changedQueries.push(dataset.queries.id(query));
        if (made !== undefined) {
          count.kept++;
          unfinished.delete(key);
          continue;
        }
        if (begun && begun.attempts > 0) {
          if (begun.attempts >= MAX_ATTEMPTS || !run.retryFailed) {
            givenUp++;
            continue;
          }
          count.retrying++;
        } else if (begun && begun.entries.length > 0) count.continuing++;
        items.push({ dataset, query, rollout });
      }
    }
    if (changedQueries.length > 0) {
      drifting.add(name);
      drift.push(...tellDrift(dataset, folder, changedQueries));
    }
    counts.push(count);
  }
  if (drift.length > 0 && !run.allowDrift) throw driftError(run, folder.path, drift);
  return { datasets: counts, items, givenUp, planned: (item) => plannedRollout(run, item, unfinished, drifting) };
}

function plannedRollout(
  run: RunSpec,
  { dataset, query, rollout }: WorkItem,
  unfinished: Map<string, Unfinished>,
  drifting: Set<string>,
): PlannedRollout {
  const key = { dataset: dataset.spec.name, queryId: dataset.queries.id(query), rollout };
  const fingerprint = fingerprintOf(dataset, query);
  const begun = unfinished.get(keyText(key));
  unfinished.delete(keyText(key));
  const recorded: Entry[] = begun?.fingerprint === fingerprint ? begun.entries : [];
  return {
    key,
    fingerprint,
    recorded,
    seed: rolloutSeed(run.seed, key),
    attempt: (begun?.attempts ?? 0) + 1,
    drift: drifting.has(key.dataset),
  };
}

export function chooseQueries(run: RunSpec, { queries, spec }: Pick<PreparedDataset, "queries" | "spec">): number[] {
  const all = Array.from({ length: queries.size }, (_, index) => index);
  const wanted = run.ids && new Set(run.ids);
  const chosen = wanted ? all.filter((index) => wanted.has(queries.id(index))) : all;
  if (wanted && chosen.length === 0 && run.datasets.length === 1) {
    const [first] = wanted;
    throw new UsageError(`${spec.name} has no query "${first}"${didYouMean(first as string, queries.ids)}`);
  }
  return run.limit === undefined ? chosen : chosen.slice(0, run.limit);
}

function fingerprintOf(dataset: PreparedDataset, query: number): string {
  return rolloutFingerprint(dataset.base, dataset.queries.hash(query));
}

function tellDrift(dataset: PreparedDataset, folder: RunFolder, queries: string[]): string[] {
  const changes = describeDrift(folder.manifest?.datasets[dataset.spec.name]?.parts, dataset.parts);
  if (changes.length > 0) return changes.map((change) => `${dataset.spec.name}: ${change}`);
  const some = [...new Set(queries)];
  return [
    `${dataset.spec.name}: the content of ${some.length === 1 ? "query" : `${some.length} queries:`} ${some.slice(0, 5).join(", ")}${some.length > 5 ? ", …" : ""} changed`,
  ];
}

function driftError(run: RunSpec, path: string, drift: string[]): UsageError {
  return new UsageError(
    [
      `${path} was made under other settings:`,
      ...drift.map((line) => `  ${line}`),
      `To start beside it, in a new folder:  npx ${run.resumeCommand} --no-resume`,
      `To keep what is finished and make the rest under the new settings, marked:  npx ${run.resumeCommand} --allow-drift`,
    ].join("\n"),
  );
}
