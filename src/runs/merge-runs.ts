// The shares of a run, made on machines that share nothing, put together into the run that would have been made without
// sharing. Lines are copied as they are, one by one. The new folder gets its name only when all of it is on disk.
import { join, resolve } from "node:path";
import { type DatasetCounts, PROGRAM_VERSION, type RunEvent, sum, UsageError } from "../core/index.ts";
import { LineWriter, scanLines } from "../files/index.ts";
import type { DamagedLine } from "./damage.ts";
import { writeFolder } from "./draft-folder.ts";
import { bodyOf, isBlank, parseLine } from "./examine-record.ts";
import { FAILURES_FILE } from "./failures.ts";
import { keyText } from "./finished.ts";
import { journalLine } from "./journal.ts";
import { MANIFEST_FILE, type Manifest, writeManifest } from "./manifest.ts";
import { type MergedJournal, mergeJournals } from "./merge-journals.ts";
import { RecordMerger } from "./merge-records.ts";
import { leftOut } from "./scan-records.ts";
import { Claims, joinManifests, maxRollouts, missingShares, openShares, type Share } from "./shares.ts";

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
    const { onRecord = () => {}, onNotice = () => {}, keyedFiles } = options;
    const counts = merge({ draft, target, manifest, shares, keyedFiles, onRecord, onNotice });
    const total = (part: "kept" | "planned") => sum(counts.map((dataset) => dataset[part]));
    return { path: target, records: total("kept"), planned: total("planned"), missing };
  });
}

type Merge = Required<Pick<MergeOptions, "keyedFiles" | "onRecord" | "onNotice">> & {
  draft: string;
  target: string;
  manifest: Manifest;
  shares: readonly Share[];
};

/** The manifest comes last: without it a folder is no run. */
function merge(job: Merge): DatasetCounts[] {
  const { draft, target, manifest, shares, keyedFiles, onNotice } = job;
  const claims = new Claims();
  const records = new RecordMerger({ ...job, claims });
  const kept = Object.keys(manifest.datasets).map((name) => [name, records.copy(name)] as const);
  const writer = new LineWriter(join(draft, "journal.jsonl"));
  const onEnd = records.require.bind(records);
  const journal = mergeJournals({ shares, claims, writer, onEnd, onNotice });
  const failed = new Map<string, string>();
  mergeKeyed(job, FAILURES_FILE, claims, (key, dataset) => failed.set(key, dataset));
  for (const file of keyedFiles) mergeKeyed(job, file, claims);
  mergePrompts(job);
  const counts = kept.map(([name, made]): DatasetCounts => {
    const planned = Math.max(countPlanned(name, shares, journal), made);
    const givenUp = [...failed].filter(([key, dataset]) => dataset === name && !records.has(key)).length;
    return { name, planned, kept: made, continuing: 0, retrying: 0, givenUp, later: 0 };
  });
  for (const event of lastSession(manifest, target, counts, journal))
    writer.write(Buffer.from(journalLine(event).trimEnd()));
  writer.close();
  writeManifest(join(draft, MANIFEST_FILE), manifest);
  return counts;
}

/** Two copies of one share, or of the whole, are counted once. */
function countPlanned(dataset: string, shares: readonly Share[], { queries }: MergedJournal): number {
  const bySplit = new Map<string, number>();
  for (const [index, { config }] of shares.entries()) {
    const split = config.split ?? "";
    bySplit.set(split, Math.max(bySplit.get(split) ?? 0, queries[index]?.get(dataset) ?? 0));
  }
  return (bySplit.get("") ?? sum([...bySplit.values()])) * maxRollouts(shares);
}

/** One in which everything that is there was kept. */
function lastSession(
  { created_at: at }: Manifest,
  folder: string,
  datasets: DatasetCounts[],
  { endedAt = at }: MergedJournal,
): RunEvent[] {
  const left = sum(datasets.map(({ planned, kept, givenUp }) => planned - kept - givenUp));
  const stoppedBy = left > 0 ? "interrupt" : undefined;
  return [
    { type: "run-start", at, folder, programVersion: PROGRAM_VERSION, datasets },
    { type: "run-end", at: endedAt, finished: 0, failed: 0, stoppedBy },
  ];
}

function mergePrompts(job: Merge): void {
  const known = new Set<string>();
  mergeLines(job, "prompts.jsonl", ({ hash }) => {
    if (typeof hash !== "string") return "is not a prompt";
    const isNew = !known.has(hash);
    known.add(hash);
    return isNew;
  });
}

function mergeKeyed(job: Merge, file: string, claims: Claims, onLine?: (key: string, dataset: string) => void): void {
  mergeLines(job, file, ({ dataset, query_id, rollout }, index) => {
    if (typeof dataset !== "string" || typeof query_id !== "string" || typeof rollout !== "number")
      return "has no whole key";
    const key = keyText({ dataset, queryId: query_id, rollout });
    if (!claims.claim(key, index)) return false;
    onLine?.(key, dataset);
    return true;
  });
}

type IsWanted = (line: { [key: string]: unknown }, share: number) => boolean | string;

/** `isWanted` may also say what is wrong with a line. */
function mergeLines({ draft, shares, onNotice }: Merge, name: string, isWanted: IsWanted): void {
  let writer: LineWriter | undefined;
  for (const [index, { path }] of shares.entries()) {
    const file = join(path, name);
    const damaged: DamagedLine[] = [];
    scanLines(file, ({ bytes, offset, length, number }) => {
      const body = bodyOf(bytes);
      if (isBlank(body)) return;
      const line = parseLine(body);
      const wanted = typeof line === "string" ? line : isWanted(line, index);
      if (typeof wanted === "string") damaged.push({ offset, length, number, reason: wanted });
      if (wanted !== true) return;
      writer ??= new LineWriter(join(draft, name));
      writer.write(body);
    });
    if (damaged.length > 0) onNotice(leftOut(file, damaged));
  }
  writer?.close();
}
