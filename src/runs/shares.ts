// The shares of a run, as their folders tell: whether they belong together, and what the run is that they make.
import { existsSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { isObject, type Json, type JsonObject, parseSplit, UsageError } from "../core/index.ts";
import { describeDrift } from "./describe-drift.ts";
import { FORMAT_VERSION, type Manifest, type ManifestDataset } from "./manifest.ts";
import { openRun } from "./read-run.ts";
import { usualOutput } from "./rounds.ts";
import { writerOf } from "./run-folder.ts";

/** `folder` as it was given. */
export type Share = { folder: string; path: string; manifest: Manifest; config: ShareConfig };

/** What of a run's config says which rollouts it has. */
type ShareConfig = JsonObject & {
  split?: string;
  rollouts?: number;
  limit?: number;
  ids?: string[];
  dataset?: string;
};

export function openShares(folders: readonly string[]): Share[] {
  const found = new Map<string, string>();
  return folders.map((folder) => {
    const { path, manifest } = openRun(folder);
    const real = realpathSync(path);
    if (found.has(real)) throw new UsageError(`${folder} is given twice`);
    found.set(real, folder);
    if (manifest.format_version < FORMAT_VERSION)
      throw new UsageError(`${folder} was made by an earlier version of rollout and cannot be merged`);
    const writer = writerOf(path);
    if (writer)
      throw new UsageError(
        `${folder} is in use by process ${writer.pid} on ${writer.host} since ${writer.since}. Wait for it, or stop it`,
      );
    return { folder, path, manifest, config: (isObject(manifest.config) ? manifest.config : {}) as ShareConfig };
  });
}

/** The shares of the run that are not among these, such as `3/5`. A run that is whole has none. */
export function missingShares(shares: readonly Share[]): string[] {
  const splits = shares.flatMap(({ config }) => (config.split && parseSplit(config.split)) || []);
  const counts = [...new Set(splits.map(({ count }) => count))];
  if (counts.length > 1) {
    const named = shares.map(({ folder, config }) => `${folder}: ${config.split ?? "whole"}`);
    throw new UsageError(`These are not shares of one split: ${named.join(", ")}`);
  }
  const [count = 0] = splits.length < shares.length ? [] : counts;
  const there = new Set(splits.map(({ index }) => index));
  const all = Array.from({ length: count }, (_, at) => at + 1);
  return all.filter((index) => !there.has(index)).map((index) => `${index}/${count}`);
}

/** The manifest of the run that the shares make, in `target`. Throws if they were made under different settings. */
export function joinManifests(shares: readonly Share[], target: string): Manifest {
  const [{ manifest: first, config }] = shares as [Share, ...Share[]];
  const datasets: Manifest["datasets"] = {};
  const differences: string[] = [];
  for (const share of shares) {
    for (const [name, dataset] of Object.entries(share.manifest.datasets)) {
      const before = datasets[name];
      if (before && before.base !== dataset.base) {
        const parts = describeDrift(before.parts, dataset.parts);
        for (const text of parts.length > 0 ? parts : ["settings"])
          differences.push(`${name}: ${text} (${share.folder})`);
      }
      datasets[name] = joinDatasets(before, dataset, usualOutput(target, name, dataset.output));
    }
  }
  if (differences.length > 0) {
    const lines = [...new Set(differences)].map((line) => `\n  ${line}`);
    throw new UsageError(`${shares[0]?.folder} and the others were made under different settings:${lines.join("")}`);
  }
  const times = (member: "created_at" | "updated_at") => shares.map(({ manifest }) => manifest[member]).sort();
  return {
    ...first,
    created_at: times("created_at")[0] as string,
    updated_at: times("updated_at").at(-1) as string,
    journal: join(target, "journal.jsonl"),
    config: { ...withoutPlaces(config), ...widest(shares), output_dir: target },
    datasets,
  };
}

function joinDatasets(before: ManifestDataset | undefined, next: ManifestDataset, output: string): ManifestDataset {
  const known = [...(before?.earlier ?? []), ...(next.earlier ?? [])];
  const earlier = known.filter(({ base }, index) => known.findIndex((one) => one.base === base) === index);
  return { ...(before ?? next), output, earlier: earlier.length > 0 ? earlier : undefined };
}

/** What the run asks for: everything that one of the shares asks for. */
function widest(shares: readonly Share[]): JsonObject {
  const configs = shares.map(({ config }) => config);
  const all = <T>(values: (T | undefined)[]) => (values.includes(undefined) ? undefined : (values as T[]));
  const limits = all(configs.map(({ limit }) => limit));
  const ids = all(configs.map((config) => config.ids))?.flat();
  const datasets = all(configs.map(({ dataset }) => dataset));
  const isOne = datasets?.every((name) => name === datasets[0]);
  return {
    rollouts: maxRollouts(shares),
    ...(limits && { limit: Math.max(...limits) }),
    ...(ids && { ids: [...new Set(ids)] }),
    ...(isOne && datasets?.[0] !== undefined && { dataset: datasets[0] }),
  };
}

export function rolloutsOf({ config }: Share): number {
  return config.rollouts ?? 1;
}

export function maxRollouts(shares: readonly Share[]): number {
  return Math.max(...shares.map(rolloutsOf));
}

/** Everything of the merged run is in its own folder; what narrows a share comes from all of them. */
function withoutPlaces(config: ShareConfig): JsonObject {
  const { split: _split, limit: _limit, ids: _ids, dataset: _dataset, checkpoint_dir: _place, ...rest } = config;
  if (!isObject(rest.datasets)) return rest;
  const datasets = Object.entries(rest.datasets).map(([name, dataset]): [string, Json] => {
    if (!isObject(dataset)) return [name, dataset as Json];
    const { output_path: _path, ...own } = dataset;
    return [name, own as Json];
  });
  return { ...rest, datasets: Object.fromEntries(datasets) };
}

/** Where a share's journal is, if it is here: the manifest's place may be another machine's. */
export function journalHere({ path, manifest }: Share, taken: ReadonlySet<string>): string | undefined {
  const own = join(path, "journal.jsonl");
  if (existsSync(own)) return own;
  const { journal } = manifest;
  return journal !== undefined && existsSync(journal) && !taken.has(journal) ? journal : undefined;
}

/** From which share the lines of each rollout are taken: of copies, from one. */
export class Claims {
  readonly #owners = new Map<string, number>();

  /** The first to claim a rollout gets it. */
  claim(key: string, share: number): boolean {
    const owner = this.#owners.get(key) ?? share;
    this.#owners.set(key, owner);
    return owner === share;
  }

  take(key: string, share: number): void {
    this.#owners.set(key, share);
  }
}
