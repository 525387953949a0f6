// The shares of a run, made on machines that share nothing, put together into the run that would have been made without
// sharing. Lines are copied as they are, one by one. The new folder gets its name only when all of it is on disk.
import { existsSync, realpathSync } from "node:fs";
import { join, resolve } from "node:path";
import {
  canonicalJson,
  type DatasetCounts,
  isObject,
  PROGRAM_VERSION,
  parseJson,
  type RolloutKey,
  type RunEvent,
  rolloutId,
  UsageError,
} from "../core/index.ts";
import { type Extent, LineWriter, readExtents, scanLines } from "../files/index.ts";
import type { DamagedLine } from "./damage.ts";
import { writeFolder } from "./draft-folder.ts";
import { bodyOf, isBlank, parseLine } from "./examine-record.ts";
import { FAILURES_FILE } from "./failures.ts";
import { keyText } from "./finished.ts";
import { journalLine } from "./journal.ts";
import { scanJournalLines } from "./journal-lines.ts";
import { MANIFEST_FILE, type Manifest, writeManifest } from "./manifest.ts";
import { ROUND, recordFiles, rolloutOf, roundFile, roundFiles, usualOutput } from "./rounds.ts";
import { leftOut, scanRecords } from "./scan-records.ts";
import {
  joinManifests,
  journalHere,
  maxRollouts,
  missingShares,
  openShares,
  rolloutsOf,
  type Share,
} from "./shares.ts";

export type MergeOptions = {
  folders: readonly string[];
  target: string;
  /** some shares may be missing */
  partial?: boolean;
  /** the names of further files whose lines belong to rollouts */
  keyedFiles: readonly string[];
  /** one more was copied */
  onRecord?: () => void;
  onNotice?: (message: string) => void;
};

export type MergedRun = { path: string; records: number; planned: number; missing: string[] };

export function mergeRuns(options: MergeOptions): MergedRun {
  const { folders, partial = false } = options;
  const target = resolve(options.target);
  const shares = openShares(folders);
  const missing = missingShares(shares);
  if (missing.length > 0 && !partial) {
    const are = missing.length === 1 ? `Share ${missing[0]} is` : `Shares ${missing.join(", ")} are`;
    throw new UsageError(
      `${are} missing. Give every share's folder; or, with --partial, put together what is there: resuming that run makes the rest`,
    );
  }
  const manifest = joinManifests(shares, target);
  const sources = shares.map(({ path }) => path);
  return writeFolder(target, sources, (draft) => {
    const merger = new Merger(draft, manifest, shares, options);
    const counts = merger.merge();
    const planned = counts.reduce((sum, dataset) => sum + dataset.planned, 0);
    return { path: target, records: merger.records, planned, missing };
  });
}

type Place = Extent & { file: string };

class Merger {
  readonly #draft: string;
  readonly #manifest: Manifest;
  readonly #shares: readonly Share[];
  readonly #options: MergeOptions;
  /** by key: the share that its lines are taken from */
  readonly #owners = new Map<string, number>();
  readonly #places = new Map<string, Place>();
  readonly #failed = new Map<string, string>();
  readonly #counts: Map<string, DatasetCounts & { rollouts: number }>[];
  records = 0;

  constructor(draft: string, manifest: Manifest, shares: readonly Share[], options: MergeOptions) {
    this.#draft = draft;
    this.#manifest = manifest;
    this.#shares = shares;
    this.#options = options;
    this.#counts = shares.map(() => new Map());
  }

  /** The manifest comes last: without it a folder is no run. */
  merge(): DatasetCounts[] {
    const kept = new Map(Object.keys(this.#manifest.datasets).map((name) => [name, this.#mergeRecords(name)]));
    this.#mergePrompts();
    this.#mergeKeyed(FAILURES_FILE, (key, dataset) => this.#failed.set(key, dataset));
    for (const file of this.#options.keyedFiles) this.#mergeKeyed(file);
    const counts = this.#mergeJournals(kept);
    writeManifest(join(this.#draft, MANIFEST_FILE), this.#manifest);
    return counts;
  }

  /** Returns how many there are. */
  #mergeRecords(name: string): number {
    const writers = new Map<string, LineWriter>();
    const read = new Set<string>();
    let records = 0;
    for (const [index, share] of this.#shares.entries()) {
      const { output } = share.manifest.datasets[name] ?? {};
      const files = output === undefined ? [] : filesHere(share, name, output);
      for (const file of files) {
        const real = realpathSync(file);
        if (read.has(real)) continue; // an output_path that both wrote to
        read.add(real);
        const rollout = output?.includes(ROUND) ? rolloutOf(output, file) : undefined;
        const place = { dataset: name, rollout, shared: !file.startsWith(share.path) };
        const damaged: DamagedLine[] = [];
        for (const { bytes, offset, length, number, isOpen, examined } of scanRecords(file, place)) {
          if (typeof examined === "string" && !isOpen) damaged.push({ offset, length, number, reason: examined });
          if (typeof examined !== "object" || examined.record.dataset !== name) continue;
          if (!this.#claimRecord(keyText(examined.record), index, { file, offset, length })) continue;
          const target = roundFile(usualOutput(this.#draft, name, output ?? ""), examined.record.rollout);
          const writer = writers.get(target) ?? new LineWriter(target);
          writers.set(target, writer);
          writer.write(bodyOf(bytes));
          records++;
          this.records++;
          this.#options.onRecord?.();
        }
        this.#tellDamage(file, damaged);
      }
    }
    for (const writer of writers.values()) writer.close();
    return records;
  }

  /** Whether it is new. Two records of one rollout must be the same. */
  #claimRecord(key: string, index: number, place: Place): boolean {
    const before = this.#places.get(key);
    if (!before) {
      this.#places.set(key, place);
      this.#owners.set(key, index);
      return true;
    }
    if (contentAt(before) === contentAt(place)) return false;
    const [dataset, queryId, rollout] = JSON.parse(key) as [string, string, number];
    throw new UsageError(
      `${rolloutId({ queryId, rollout })} of ${dataset} is in ${before.file} and in ${place.file}, and the two differ: these are not shares of one run`,
    );
  }

  /** Whether the lines of a rollout are taken from this share. */
  #claim(key: string, index: number): boolean {
    const owner = this.#owners.get(key) ?? index;
    this.#owners.set(key, owner);
    return owner === index;
  }

  #mergePrompts(): void {
    const known = new Set<string>();
    this.#mergeLines("prompts.jsonl", ({ hash }) => {
      if (typeof hash !== "string") return "is not a prompt";
      const isNew = !known.has(hash);
      known.add(hash);
      return isNew;
    });
  }

  #mergeKeyed(file: string, onLine: (key: string, dataset: string) => void = () => {}): void {
    this.#mergeLines(file, ({ dataset, query_id, rollout }, index) => {
      if (typeof dataset !== "string" || typeof query_id !== "string" || typeof rollout !== "number")
        return "has no whole key";
      const key = keyText({ dataset, queryId: query_id, rollout });
      if (!this.#claim(key, index)) return false;
      onLine(key, dataset);
      return true;
    });
  }

  /** `isWanted` may also say what is wrong with a line. */
  #mergeLines(name: string, isWanted: (line: { [key: string]: unknown }, index: number) => boolean | string): void {
    let writer: LineWriter | undefined;
    for (const [index, { path }] of this.#shares.entries()) {
      const file = join(path, name);
      const damaged: DamagedLine[] = [];
      scanLines(file, ({ bytes, offset, length, number }) => {
        const body = bodyOf(bytes);
        if (isBlank(body)) return;
        const line = parseLine(body);
        const wanted = typeof line === "string" ? line : isWanted(line, index);
        if (typeof wanted === "string") damaged.push({ offset, length, number, reason: wanted });
        if (wanted !== true) return;
        writer ??= new LineWriter(join(this.#draft, name));
        writer.write(body);
      });
      this.#tellDamage(file, damaged);
    }
    writer?.close();
  }

  /** A rollout of which only the journal tells: its record is in a file elsewhere, or gone with its file. */
  #requireRecord({ folder, path, manifest }: Share, { dataset, queryId, rollout }: RolloutKey): void {
    if (this.#places.has(keyText({ dataset, queryId, rollout }))) return;
    const { output = "" } = manifest.datasets[dataset] ?? {};
    const usual = usualOutput(path, dataset, output);
    if (roundFiles(usual).some((file) => existsSync(file))) return; // damaged there
    const file = roundFile(output, rollout);
    throw new UsageError(
      `${folder}: the record of ${rolloutId({ queryId, rollout })} of ${dataset} is not here; it was written to ${file}. Put that file there, or at ${roundFile(usual, rollout)}`,
    );
  }

  /** What happened to rollouts, and one session at the end in which everything that is there was kept. */
  #mergeJournals(kept: ReadonlyMap<string, number>): DatasetCounts[] {
    const writer = new LineWriter(join(this.#draft, "journal.jsonl"));
    const taken = new Set<string>();
    let endedAt = this.#manifest.created_at;
    for (const [index, share] of this.#shares.entries()) {
      const file = journalHere(share, taken);
      if (file === undefined) {
        this.#options.onNotice?.(`${share.folder}: its journal is not here; unfinished rollouts of it start over`);
        continue;
      }
      taken.add(file);
      const wanted = new Map<string, boolean>();
      const damaged: DamagedLine[] = [];
      scanJournalLines(
        file,
        ({ type, key, bytes, event }) => {
          const told = type === "entry-end" ? undefined : event();
          if (told && "at" in told && told.at > endedAt) endedAt = told.at;
          if (told?.type === "run-start")
            for (const dataset of told.datasets)
              this.#counts[index]?.set(dataset.name, { ...dataset, rollouts: rolloutsOf(share) });
          if (told?.type === "rollout-start") wanted.set(key, this.#claim(keyText(told), index));
          if (told?.type === "rollout-end" && wanted.get(key) && told.outcome.stopReason !== "infrastructure")
            this.#requireRecord(share, told);
          if (key !== "" && wanted.get(key)) writer.write(bytes);
        },
        (line) => damaged.push(line),
      );
      this.#tellDamage(file, damaged);
    }
    const datasets = [...kept].map(([name, records]) => this.#count(name, records));
    const finished = [...kept.values()].reduce((sum, records) => sum + records, 0);
    const left = datasets.reduce((sum, { planned, givenUp }) => sum + planned - givenUp, 0) - finished;
    const [at, folder] = [this.#manifest.created_at, resolve(this.#options.target)];
    const stoppedBy = left > 0 ? "interrupt" : undefined;
    const session: RunEvent[] = [
      { type: "run-start", at, folder, programVersion: PROGRAM_VERSION, datasets },
      { type: "run-end", at: endedAt, finished: 0, failed: 0, stoppedBy },
    ];
    for (const event of session) writer.write(Buffer.from(journalLine(event).trimEnd()));
    writer.close();
    return datasets;
  }

  #count(name: string, kept: number): DatasetCounts {
    const rollouts = maxRollouts(this.#shares);
    // two copies of one share, or of the whole, are counted once
    const bySplit = new Map<string, number>();
    for (const [index, { config }] of this.#shares.entries()) {
      const own = this.#counts[index]?.get(name);
      const queries = own ? Math.ceil(own.planned / own.rollouts) : 0;
      const split = config.split ?? "";
      bySplit.set(split, Math.max(bySplit.get(split) ?? 0, queries * rollouts));
    }
    const planned = bySplit.get("") ?? [...bySplit.values()].reduce((sum, size) => sum + size, 0);
    const failed = [...this.#failed].filter(([key, dataset]) => dataset === name && !this.#places.has(key)).length;
    return { name, planned: Math.max(planned, kept), kept, continuing: 0, retrying: 0, givenUp: failed, later: 0 };
  }

  #tellDamage(file: string, damaged: readonly DamagedLine[]): void {
    if (damaged.length > 0) this.#options.onNotice?.(leftOut(file, damaged));
  }
}

/** A share's record files, in its folder before anywhere else: what a path of another machine means here is not known. */
function filesHere({ path }: Share, dataset: string, output: string): string[] {
  const own = roundFiles(usualOutput(path, dataset, output)).filter((file) => existsSync(file));
  return own.length > 0 ? own : recordFiles(path, dataset, output).filter((file) => existsSync(file));
}

/** What a record says, apart from when. */
function contentAt({ file, ...extent }: Place): string {
  const [bytes] = readExtents(file, [extent]);
  const record = bytes && parseJson(bodyOf(bytes).toString("utf8"));
  if (!isObject(record) || !isObject(record.metadata)) return bytes?.toString("latin1") ?? "";
  const { timings: _timings, ...metadata } = record.metadata;
  return canonicalJson({ ...record, metadata });
}
