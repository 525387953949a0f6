// Reads a run's folder from outside, during the run or after it: nothing here locks or changes anything.
import { existsSync, readdirSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { type Entry, rolloutId, type Trajectory, UsageError } from "../core/index.ts";
import { type Extent, type Holder, scanLines } from "../files/index.ts";
import type { DamagedLine } from "./damage.ts";
import { type ReadTrajectory, readTrajectory } from "./examine-record.ts";
import { FAILURES_FILE, type FailureRecord, scanFailures } from "./failures.ts";
import { keyText, recordKeyText, scanFinished } from "./finished.ts";
import { type JournalLine, readEntries, scanJournalLines } from "./journal-lines.ts";
import { MANIFEST_FILE, type Manifest, readManifest } from "./manifest.ts";
import { listRecordFiles } from "./rounds.ts";
import { writerOf } from "./run-folder.ts";
import { DamageNotes, leftOut } from "./scan-records.ts";
import { RunTally } from "./tally.ts";

export type RunOverview = {
  path: string;
  manifest: Manifest;
  tally: RunTally;
  writer: Holder | undefined;
  /** what is damaged in the journal, in a sentence */
  damage: string | undefined;
};

export function readRun(folder: string): RunOverview {
  const { path, manifest } = openRun(folder);
  const writer = writerOf(path);
  const tally = new RunTally();
  const journal = journalOf(path, manifest);
  const damaged: DamagedLine[] = [];
  const add = ({ type, usage, event }: JournalLine) => {
    if (type === "entry-end") tally.addEntry(usage());
    else tally.add(event());
  };
  scanJournalLines(journal, add, (line) => damaged.push(line));
  // a killed session wrote no end
  if (!writer) tally.endedAt ??= lastWrite(journal) ?? tally.startedAt;
  return { path, manifest, tally, writer, damage: damaged.length > 0 ? leftOut(journal, damaged) : undefined };
}

/** Everything the folder has about one rollout. */
export type RolloutRecord = {
  dataset: string;
  id: string;
  trajectory: Trajectory | undefined;
  /** of its latest attempt, with their times; none if no journal was kept */
  entries: Entry[];
  startedAt: string | undefined;
  failures: FailureRecord[];
};

/** Every rollout with this id, one for each dataset that has it. */
export function readRollouts(
  folder: string,
  id: string,
  { dataset, onNotice = () => {} }: { dataset?: string; onNotice?: (message: string) => void } = {},
): RolloutRecord[] {
  const { path, manifest } = openRun(folder);
  const found = new Map<string, RolloutRecord>();
  const recordOf = (name: string) => {
    const record = found.get(name) ?? blank(name, id);
    found.set(name, record);
    return record;
  };
  const isWanted = (name: string, other: string) => other === id && (dataset === undefined || name === dataset);
  for (const { dataset: name, file } of listRecordFiles(path, manifest)) {
    const notes = new DamageNotes(file);
    findTrajectories(file, { id, dataset: name }, (read, number) => {
      notes.add(number, read);
      if (typeof read === "string" || read.trajectory.id !== id) return;
      const own = read.trajectory.dataset ?? name;
      if (isWanted(own, id)) recordOf(own).trajectory ??= read.trajectory;
    });
    notes.sentences().forEach(onNotice);
  }
  readJournalOf(journalOf(path, manifest), id, (name) => (isWanted(name, id) ? recordOf(name) : undefined));
  scanFailures(join(path, FAILURES_FILE), (failure) => {
    if (isWanted(failure.dataset, failure.id)) recordOf(failure.dataset).failures.push(failure);
  });
  return [...found.values()];
}

/** The latest failure of each rollout that has no record. */
export function readFailures(folder: string, onNotice: (message: string) => void = () => {}): FailureRecord[] {
  const { path, manifest } = openRun(folder);
  const failed = new Map<string, FailureRecord>();
  const damaged: DamagedLine[] = [];
  const file = join(path, FAILURES_FILE);
  scanFailures(
    file,
    (failure) => failed.set(recordKeyText(failure), failure),
    (line) => damaged.push(line),
  );
  if (damaged.length > 0) onNotice(leftOut(file, damaged));
  if (failed.size === 0) return [];
  for (const { dataset, file } of listRecordFiles(path, manifest))
    scanFinished(file, dataset, (record) => failed.delete(keyText(record)));
  return [...failed.values()];
}

/** The run in this folder that was written to last, or undefined: for commands given no run. */
export function newestRun(outputs: string): string | undefined {
  if (!existsSync(outputs)) return undefined;
  const folders = [outputs, ...readdirSync(outputs).map((name) => join(outputs, name))];
  const runs = folders.filter((folder) => existsSync(join(folder, MANIFEST_FILE)));
  const age = (folder: string) => lastWrite(join(folder, "journal.jsonl")) ?? lastWrite(join(folder, MANIFEST_FILE));
  return runs.sort((a, b) => (age(b) ?? 0) - (age(a) ?? 0))[0];
}

export function openRun(folder: string): { path: string; manifest: Manifest } {
  const path = resolve(folder);
  const manifest = readManifest(join(path, MANIFEST_FILE));
  if (manifest) return { path, manifest };
  throw new UsageError(
    existsSync(path)
      ? `${folder} is not a run folder: it has no manifest.json (records made elsewhere: rollout eval with --domains)`
      : `There is no folder ${folder}`,
  );
}

export function journalOf(path: string, manifest: Manifest): string {
  const own = join(path, "journal.jsonl");
  return manifest.journal && !existsSync(own) ? manifest.journal : own;
}

function lastWrite(file: string): number | undefined {
  return existsSync(file) ? statSync(file).mtimeMs : undefined;
}

function blank(dataset: string, id: string): RolloutRecord {
  return { dataset, id, trajectory: undefined, entries: [], startedAt: undefined, failures: [] };
}

function findTrajectories(
  file: string,
  { id, dataset }: { id: string; dataset: string },
  onRead: (read: ReadTrajectory | string, number: number) => void,
): void {
  const text = Buffer.from(JSON.stringify(id));
  scanLines(file, ({ bytes, number }) => {
    if (!bytes.includes(text)) return; // another program may have reordered its members
    const read = readTrajectory(bytes, dataset);
    if (read) onRead(read, number);
  });
}

function readJournalOf(file: string, id: string, recordOf: (dataset: string) => RolloutRecord | undefined): void {
  type Attempt = { dataset: string; startedAt: string; extents: Extent[] };
  const attempts = new Map<string, Attempt>();
  scanJournalLines(file, ({ type, key, extent, event }) => {
    if (type === "entry-end") attempts.get(key)?.extents.push(extent);
    if (type !== "rollout-start") return;
    const start = event();
    if (start.type !== "rollout-start" || rolloutId(start) !== id) return;
    const before = attempts.get(key);
    attempts.set(key, {
      dataset: start.dataset,
      startedAt: start.continued > 0 && before ? before.startedAt : start.at,
      extents: before?.extents.slice(0, start.continued) ?? [],
    });
  });
  for (const { dataset, startedAt, extents } of attempts.values()) {
    const record = recordOf(dataset);
    if (!record) continue;
    record.startedAt = startedAt;
    record.entries = readEntries(file, extents);
  }
}
