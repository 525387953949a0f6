// What is left to do: everything asked for, less what the run folder holds. Nothing is kept of a rollout that is done.
import {
  addUsage,
  type DatasetPlan,
  didYouMean,
  type Entry,
  NO_USAGE,
  rolloutSeed,
  type Usage,
  UsageError,
} from "../core/index.ts";
import { usageOf } from "../dialogue/index.ts";
import { keyText, type RunFolder, type Unfinished } from "../runs/index.ts";
import { outputOf } from "./begin-run.ts";
import { describeDrift, rolloutFingerprint } from "./fingerprint.ts";
import type { PlannedRollout } from "./play-rollout.ts";
import type { PreparedDataset } from "./prepare.ts";
import type { RunSpec } from "./spec.ts";

export const MAX_ATTEMPTS = 3;

export type WorkItem = { dataset: PreparedDataset; query: number; rollout: number };

export type RunPlan = {
  datasets: DatasetPlan[];
  /** what is to be done, one after the other: as numbers only, since there may be a hundred thousand */
  items: Iterable<WorkItem> & Iterator<WorkItem>;
  size: number;
  /** what was paid for in earlier attempts that have no record yet; reads their entries */
  paidBefore(): Usage;
  planned(item: WorkItem): PlannedRollout;
};

type Work = { dataset: PreparedDataset; numbers: number[] };

export function planRun(run: RunSpec, datasets: PreparedDataset[], folder: RunFolder): RunPlan {
  const unfinished = folder.takeUnfinished();
  const drift: string[] = [];
  const drifting = new Set<string>();
  const counts: DatasetPlan[] = [];
  const works = datasets.map((dataset) => {
    const { count, numbers, changed } = planDataset(run, dataset, folder, unfinished);
    counts.push(count);
    if (changed.length > 0) {
      drifting.add(dataset.spec.name);
      drift.push(...tellDrift(dataset, folder, changed));
    }
    return { dataset, numbers };
  });
  if (drift.length > 0 && !run.allowDrift) throw driftError(run, folder.path, drift);
  return {
    datasets: counts,
    items: itemsOf(works, run.rollouts),
    size: works.reduce((sum, { numbers }) => sum + numbers.length, 0),
    paidBefore: () => [...unfinished.values()].reduce((sum, { entries }) => addUsage(sum, usageOf(entries)), NO_USAGE),
    planned: (item) => plannedRollout(run, item, unfinished, drifting),
  };
}

type Changed = { query: number; fingerprint: string };
type DatasetWork = { count: DatasetPlan; numbers: number[]; changed: Changed[] };

/** What the folder lacks of one dataset. What it has already is struck off what the journal holds as unfinished. */
function planDataset(
  run: RunSpec,
  dataset: PreparedDataset,
  folder: RunFolder,
  unfinished: Map<string, Unfinished>,
): DatasetWork {
  const { name } = dataset.spec;
  const finished = new Map<string, string>();
  folder.openOutput(name, outputOf({ folder: folder.path }, dataset.spec), (record) => {
    if (record.dataset === name) finished.set(keyText(record), record.fingerprint);
  });
  const count: DatasetPlan = { name, planned: 0, kept: 0, continuing: 0, retrying: 0, givenUp: 0 };
  const numbers: number[] = [];
  const changed: Changed[] = [];
  for (const query of chooseQueries(run, dataset)) {
    const fingerprint = fingerprintOf(dataset, query);
    for (let rollout = 0; rollout < run.rollouts; rollout++) {
      const key = keyText({ dataset: name, queryId: dataset.queries.id(query), rollout });
      const made = finished.get(key);
      const begun = unfinished.get(key);
      const earlier = made ?? begun?.fingerprint;
      if (earlier && earlier !== fingerprint) changed.push({ query, fingerprint: earlier });
      count.planned++;
      const fate = made !== undefined ? "kept" : begun ? fateOf(run, begun, fingerprint) : "starting";
      if (fate !== "starting") count[fate]++;
      if (fate === "kept") unfinished.delete(key);
      else if (fate !== "givenUp") numbers.push(query * run.rollouts + rollout);
    }
  }
  return { count, numbers, changed };
}

function fateOf(run: RunSpec, begun: Unfinished, fingerprint: string) {
  if (begun.attempts > 0) return begun.attempts >= MAX_ATTEMPTS || !run.retryFailed ? "givenUp" : "retrying";
  return begun.recorded > 0 && begun.fingerprint === fingerprint ? "continuing" : "starting";
}

function* itemsOf(works: Work[], rollouts: number): Generator<WorkItem, undefined> {
  for (const { dataset, numbers } of works) {
    for (const number of numbers) yield { dataset, query: Math.floor(number / rollouts), rollout: number % rollouts };
  }
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

/** Before anything is written: an id that no dataset has is a slip. */
export function requireKnownIds(run: RunSpec, datasets: Pick<PreparedDataset, "queries">[]): void {
  const known = new Set(run.ids ? datasets.flatMap(({ queries }) => queries.ids) : []);
  const unknown = run.ids?.filter((id) => !known.has(id)) ?? [];
  if (unknown.length === 0) return;
  const hints = unknown.map((id) => `"${id}"${didYouMean(id, known)}`);
  throw new UsageError(`There is no query ${hints.join(", ")}`);
}

export function chooseQueries(run: RunSpec, { queries }: Pick<PreparedDataset, "queries">): number[] {
  const all = Array.from({ length: queries.size }, (_, index) => index);
  const wanted = run.ids && new Set(run.ids);
  const chosen = wanted ? all.filter((index) => wanted.has(queries.id(index))) : all;
  return run.limit === undefined ? chosen : chosen.slice(0, run.limit);
}

function fingerprintOf(dataset: PreparedDataset, query: number): string {
  return rolloutFingerprint(dataset.base, dataset.queries.hash(query));
}

/** In words, by the settings that the changed records were made under; where none are known, it is the queries. */
function tellDrift(dataset: PreparedDataset, folder: RunFolder, changed: Changed[]): string[] {
  const { name } = dataset.spec;
  const before = folder.manifest?.datasets[name];
  const known = before ? [before, ...(before.earlier ?? [])] : [];
  const madeUnder = (base: string) =>
    changed.some(({ query, fingerprint }) => rolloutFingerprint(base, dataset.queries.hash(query)) === fingerprint);
  const changes = known
    .filter(({ base }) => base !== dataset.base && madeUnder(base))
    .flatMap(({ parts }) => describeDrift(parts, dataset.parts));
  if (changes.length > 0) return [...new Set(changes)].map((change) => `${name}: ${change}`);
  const some = [...new Set(changed.map(({ query }) => dataset.queries.id(query)))];
  const queries = `${some.length === 1 ? "query" : `${some.length} queries:`} ${some.slice(0, 5).join(", ")}${some.length > 5 ? ", …" : ""}`;
  return [
    `${name}: the content of ${queries} changed`,
    ...(before && before.base !== dataset.base
      ? describeDrift(before.parts, dataset.parts).map((change) => `${name}: ${change}`)
      : []),
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
