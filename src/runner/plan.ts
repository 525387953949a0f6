// What is left to do: everything asked for, minus what the run folder holds. Nothing is kept of finished rollouts.
import type { ResolvedRun } from "../config/index.ts";
import {
  addUsage,
  createShare,
  type DatasetCounts,
  didYouMean,
  type Entry,
  NO_USAGE,
  namesakeOf,
  type Outcome,
  parseSplit,
  type Query,
  type RolloutKey,
  rolloutSeed,
  sumUsage,
  type Usage,
  UsageError,
} from "../core/index.ts";
import type { QueryFile } from "../domains/index.ts";
import {
  describeDrift,
  keyText,
  MAX_ATTEMPTS,
  type RunFolder,
  rolloutFingerprint,
  type Unfinished,
} from "../runs/index.ts";
import { withOurIds } from "./earlier-records.ts";
import { outputOf } from "./output-files.ts";
import { requireIdsApart } from "./own-ids.ts";
import type { PreparedDataset } from "./prepare-dataset.ts";

export type PlannedRollout = {
  dataset: PreparedDataset;
  query: Query;
  key: RolloutKey;
  seed: number;
  fingerprint: string;
  attempt: number;
  /** entries of an attempt that was cut off */
  recorded: readonly Entry[];
  /** the idempotency keys of calls that such an attempt sent, by call id */
  sent: ReadonlyMap<string, string>;
  /** how it ended after them and how many there were, if its record was damaged */
  ended?: { outcome: Outcome; entries: number };
  drift: boolean;
};

export type RunPlan = {
  datasets: DatasetCounts[];
  /** the rollouts to make, in order; queries and recorded entries are read when their turn comes */
  rollouts: Iterable<PlannedRollout>;
  size: number;
  /** what was paid for in earlier attempts that have no record yet; reads their entries */
  paidBefore(): Usage;
};

/** Settings changed since the run was made. The command line adds the commands to choose from. */
export class DriftError extends UsageError {
  override name = "DriftError";
}

export function planRun(run: ResolvedRun, datasets: PreparedDataset[], folder: RunFolder): RunPlan {
  const unfinished = folder.takeUnfinished();
  const drift: string[] = [];
  const works = datasets.map((dataset) => {
    const work = planDataset(run, dataset, folder, unfinished);
    drift.push(...tellDrift(dataset, folder, work.changed));
    return work;
  });
  if (drift.length > 0 && !run.config.allow_drift) {
    const lines = drift.map((line) => `\n  ${line}`);
    throw new DriftError(`${folder.path} was made under other settings:${lines.join("")}`);
  }
  return {
    datasets: works.map(({ counts }) => counts),
    rollouts: listRollouts(run, works, unfinished),
    size: works.reduce((sum, { numbers }) => sum + numbers.length, 0),
    paidBefore: () => [...unfinished.values()].reduce((sum, { entries }) => addUsage(sum, sumUsage(entries)), NO_USAGE),
  };
}

type Changed = { query: number; fingerprint: string };
type DatasetWork = {
  dataset: PreparedDataset;
  counts: DatasetCounts;
  /** each rollout to make as one number, since there may be a hundred thousand: query * rounds + rollout */
  numbers: number[];
  changed: Changed[];
};

/** What the folder lacks of one dataset. What it already has is removed from `unfinished`. */
function planDataset(
  run: ResolvedRun,
  dataset: PreparedDataset,
  folder: RunFolder,
  unfinished: Map<string, Unfinished>,
): DatasetWork {
  const { name } = dataset.spec;
  const { config, lasting } = run;
  const rounds = roundsOf(run);
  const finished = new Map<string, string>();
  const onRecord = withOurIds(dataset, (record) => {
    if (record.dataset === name) finished.set(keyText(record), record.fingerprint);
  });
  folder.openOutput(name, outputOf(folder.path, dataset.spec), onRecord);
  const isMade = (queryId: string, rollout: number) => {
    const key = keyText({ dataset: name, queryId, rollout });
    return finished.has(key) || unfinished.has(key);
  };
  requireIdsApart({ name, queries: dataset.queries }, rounds, {
    has: ({ queryId, rollout }) => isMade(queryId, rollout),
    odd: [...listOdd(finished.keys(), name), ...listOdd(unfinished.keys(), name)],
  });
  const counts: DatasetCounts = { name, planned: 0, kept: 0, continuing: 0, retrying: 0, givenUp: 0, later: 0 };
  const numbers: number[] = [];
  const changed: Changed[] = [];
  const decide = (begun: Unfinished, fingerprint: string) => {
    if (begun.ended) return begun.fingerprint === fingerprint ? "continuing" : "starting";
    if (begun.failed || begun.attempts > 0) {
      const again = config.retry_failed ?? begun.attempts < MAX_ATTEMPTS;
      return again ? "retrying" : "givenUp";
    }
    return begun.recorded > 0 && begun.fingerprint === fingerprint ? "continuing" : "starting";
  };
  requireShareKept(run, dataset, { folder, isMade });
  const now = new Set(chooseQueries(config, dataset));
  const all = lasting ? new Set([...chooseQueries({ ...config, ...lasting }, dataset), ...now]) : now;
  if (folder.isDamaged(name)) recallLost(dataset, { queries: all, rounds, finished, folder, unfinished });
  for (const query of all) {
    const fingerprint = rolloutFingerprint(dataset.base, dataset.queries.hash(query));
    for (let rollout = 0; rollout < rounds; rollout++) {
      const key = keyText({ dataset: name, queryId: dataset.queries.id(query), rollout });
      const made = finished.get(key);
      const begun = unfinished.get(key);
      const earlier = made ?? begun?.fingerprint;
      const isNow = now.has(query) && rollout < config.rollouts;
      if (isNow && earlier && earlier !== fingerprint) changed.push({ query, fingerprint: earlier });
      counts.planned++;
      const wanted = begun ? decide(begun, fingerprint) : "starting";
      const decision = made !== undefined ? "kept" : isNow ? wanted : "later";
      if (decision !== "starting") counts[decision]++;
      if (decision === "kept") unfinished.delete(key);
      else if (decision !== "givenUp" && decision !== "later") numbers.push(query * rounds + rollout);
    }
  }
  return { dataset, counts, numbers, changed };
}

type ShareMade = { folder: RunFolder; isMade(queryId: string, rollout: number): boolean };

/** A share that has begun still holds the queries that it made: else another share makes them again. */
function requireShareKept(run: ResolvedRun, dataset: PreparedDataset, { folder, isMade }: ShareMade): void {
  const { split } = run.config;
  if (dataset.spec.output) return; // several shares may write there
  if (!split || (folder.manifest?.config as Partial<ResolvedRun["config"]> | undefined)?.split !== split) return;
  const share = new Set(chooseQueries({ split }, dataset));
  const rounds = Array.from({ length: roundsOf(run) }, (_, rollout) => rollout);
  const moved = dataset.queries.ids.find((id, index) => !share.has(index) && rounds.some((round) => isMade(id, round)));
  if (moved === undefined) return;
  throw new UsageError(
    `${dataset.spec.name}: query "${moved}" was made in share ${split} and is in another one now: queries were added before it, removed or reordered. Add new ones at the end; or leave out --split, and the rest of the run is made here`,
  );
}

/** The queries of a dataset among these keys whose first rollouts have ids that another query's could have too. */
function listOdd(keys: Iterable<string>, dataset: string): string[] {
  return [...keys].flatMap((text) => {
    if (!text.includes("#")) return [];
    const [name, queryId, rollout] = JSON.parse(text) as [string, string, number];
    return name === dataset && rollout === 0 && namesakeOf(queryId) ? [queryId] : [];
  });
}

type Lost = {
  queries: Iterable<number>;
  rounds: number;
  finished: ReadonlyMap<string, string>;
  folder: RunFolder;
  unfinished: Map<string, Unfinished>;
};

/** Rollouts without a record may have ended and lost it: what the journal has of them is not paid for again. */
function recallLost(dataset: PreparedDataset, { queries, rounds, finished, folder, unfinished }: Lost): void {
  const missing = new Set<string>();
  for (const query of queries) {
    for (let rollout = 0; rollout < rounds; rollout++) {
      const key = keyText({ dataset: dataset.spec.name, queryId: dataset.queries.id(query), rollout });
      if (!finished.has(key) && !unfinished.has(key)) missing.add(key);
    }
  }
  for (const [key, begun] of folder.recall(missing)) unfinished.set(key, begun);
}

/** How many rollouts of each query the run has, whether or not all of them are wanted this time. */
export function roundsOf({ config, lasting }: ResolvedRun): number {
  return lasting?.rollouts ?? config.rollouts;
}

function* listRollouts(
  run: ResolvedRun,
  works: DatasetWork[],
  unfinished: Map<string, Unfinished>,
): Generator<PlannedRollout, undefined> {
  const rounds = roundsOf(run);
  for (const { dataset, numbers, changed } of works) {
    for (const number of numbers) {
      const index = Math.floor(number / rounds);
      const query = dataset.queries.load(index);
      const key = { dataset: dataset.spec.name, queryId: query.id, rollout: number % rounds };
      const fingerprint = rolloutFingerprint(dataset.base, query.hash);
      const begun = unfinished.get(keyText(key));
      unfinished.delete(keyText(key));
      const continues = begun?.fingerprint === fingerprint;
      yield {
        dataset,
        query,
        key,
        fingerprint,
        get recorded() {
          return continues ? begun.entries : [];
        },
        sent: continues ? begun.sent : new Map(),
        ended:
          begun?.ended && begun.fingerprint === fingerprint
            ? { outcome: begun.ended, entries: begun.recorded }
            : undefined,
        seed: rolloutSeed(run.config.seed, key),
        attempt: (begun?.attempts ?? 0) + 1,
        drift: changed.length > 0,
      };
    }
  }
}

/** Before anything is written: an id that no dataset has is a typo. */
export function requireKnownIds({ config }: ResolvedRun, datasets: Pick<PreparedDataset, "queries">[]): void {
  const known = new Set(config.ids ? datasets.flatMap(({ queries }) => queries.ids) : []);
  const unknown = config.ids?.filter((id) => !known.has(id)) ?? [];
  if (unknown.length === 0) return;
  const hints = unknown.map((id) => `"${id}"${didYouMean(id, known)}`);
  throw new UsageError(`There is no query ${hints.join(", ")}`);
}

/** The indexes of the requested queries. A share is one of what would be made without it: also of the first so many. */
export function chooseQueries(
  { ids, limit, split }: Pick<ResolvedRun["config"], "ids" | "limit" | "split">,
  { queries, spec }: { queries: QueryFile; spec: Pick<PreparedDataset["spec"], "name"> },
): number[] {
  const all = Array.from({ length: queries.size }, (_, index) => index);
  const wanted = ids && new Set(ids);
  const chosen = wanted ? all.filter((index) => wanted.has(queries.id(index))) : all;
  const first = limit === undefined ? chosen : chosen.slice(0, limit);
  const share = split === undefined ? undefined : parseSplit(split);
  return share ? first.filter(createShare(spec.name, share)) : first;
}

/** In words, by the settings that the changed records were made under; if those are unknown, the queries changed. */
function tellDrift(dataset: PreparedDataset, folder: RunFolder, changed: Changed[]): string[] {
  if (changed.length === 0) return [];
  const { name } = dataset.spec;
  const before = folder.manifest?.datasets[name];
  const known = before ? [before, ...(before.earlier ?? [])] : [];
  const isMadeUnder = (base: string) =>
    changed.some(({ query, fingerprint }) => rolloutFingerprint(base, dataset.queries.hash(query)) === fingerprint);
  const changes = known
    .filter(({ base }) => base !== dataset.base && isMadeUnder(base))
    .flatMap(({ parts }) => describeDrift(parts, dataset.parts));
  if (changes.length > 0) return [...new Set(changes)].map((change) => `${name}: ${change}`);
  const some = [...new Set(changed.map(({ query }) => dataset.queries.id(query)))];
  const queries = `${some.length === 1 ? "query" : `${some.length} queries:`} ${some.slice(0, 5).join(", ")}${some.length > 5 ? ", …" : ""}`;
  const others = before && before.base !== dataset.base ? describeDrift(before.parts, dataset.parts) : [];
  return [`the content of ${queries} changed`, ...others].map((change) => `${name}: ${change}`);
}
