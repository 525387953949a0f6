// A run's folder while it is being written: one writer, append-only files, a rollout finished only once it is on disk.
import { createHash } from "node:crypto";
import { accessSync, appendFileSync, constants, existsSync, mkdirSync, statfsSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import {
  messageOf,
  type RolloutKey,
  type RunEvent,
  redactWritten,
  type Trajectory,
  UsageError,
} from "../core/index.ts";
import { AppendFile, type Extent, type Holder, Lock, type SyncMode } from "../files/index.ts";
import { sealedLine } from "./checksum.ts";
import { type DamagedLine, dropExtents, setAside } from "./damage.ts";
import { hasMark, MARK_BYTES, type RecordPlace } from "./examine-record.ts";
import { FAILURES_FILE, type FailureRecord, scanFailures } from "./failures.ts";
import { type FinishedRecord, recordKeyText } from "./finished.ts";
import { journalLine, recallAttempts, scanJournal, type Unfinished } from "./journal.ts";
import { journalKeyText, scanJournalLines } from "./journal-lines.ts";
import { MANIFEST_FILE, type Manifest, readManifest, writeManifest } from "./manifest.ts";
import { PromptStore } from "./prompt-store.ts";
import { rolloutOf, roundFile, roundFiles } from "./rounds.ts";
import { scanRecords } from "./scan-records.ts";

export type RunFolderOptions = {
  path: string;
  sync: SyncMode;
  /** false: no entries are journaled, so interrupted rollouts start over */
  checkpoints: boolean;
  /** another folder for the journal */
  checkpointDir?: string;
  /** called with one line when the disk is full or read-only, and when writing resumes */
  onPause?: (message: string, isPaused: boolean) => void;
  /** called with one line for each file that has damaged lines, once they are set aside */
  onNotice?: (message: string) => void;
  /** once aborted, such a disk is no longer waited for */
  giveUp?: AbortSignal;
};

export class RunFolder {
  readonly path: string;
  readonly journalPath: string;
  readonly manifest: Manifest | undefined;
  readonly prompts: PromptStore;
  readonly #options: RunFolderOptions;
  readonly #locks: Lock[];
  readonly #journal: AppendFile;
  readonly #failures: AppendFile;
  /** by dataset: its file, or the pattern for the files of its rounds */
  readonly #outputs = new Map<string, string>();
  readonly #files = new Map<string, AppendFile>();
  #unfinished: Map<string, Unfinished>;
  /** datasets whose records were damaged or torn: rollouts may have ended and have none */
  readonly #damaged = new Set<string>();

  constructor(options: RunFolderOptions) {
    this.path = resolve(options.path);
    this.#options = options;
    makeWritable(this.path);
    this.#locks = [takeLock(join(this.path, "lock"), this.path)];
    try {
      this.manifest = readManifest(join(this.path, MANIFEST_FILE));
      this.journalPath = resolve(options.checkpointDir ?? this.path, "journal.jsonl");
      const { unfinished, completeBytes } = this.#openJournal();
      this.#unfinished = unfinished;
      this.#journal = new AppendFile(this.journalPath, { ...this.#append(), completeBytes });
      const failures = join(this.path, FAILURES_FILE);
      const failuresEnd = this.#countFailures(failures, unfinished);
      this.#failures = new AppendFile(failures, { ...this.#append(), completeBytes: failuresEnd });
      this.prompts = new PromptStore(join(this.path, "prompts.jsonl"), { ...this.#append(), onNotice: this.#notice });
    } catch (error) {
      this.#release();
      throw error;
    }
  }

  writeManifest(manifest: Manifest): void {
    const path = join(this.path, MANIFEST_FILE);
    withUsageError(path, () => writeManifest(path, manifest));
  }

  /**
   * Opens a dataset's output and calls back for each rollout already in it; damaged lines are set aside. An output
   * outside has its own lock.
   */
  openOutput(dataset: string, output: string, onRecord: (record: FinishedRecord) => void): void {
    const isOutside = relative(this.path, output).startsWith("..");
    if (isOutside) {
      makeWritable(dirname(output));
      this.#locks.push(takeLock(`${output}.lock`, output));
    }
    this.#outputs.set(dataset, output);
    for (const file of roundFiles(output)) {
      const rollout = file === output ? undefined : rolloutOf(output, file);
      const completeBytes = this.#openRecords(file, { dataset, rollout, shared: isOutside }, onRecord);
      this.#files.set(file, new AppendFile(file, { ...this.#append(), completeBytes }));
    }
  }

  /** Returns where the last complete line ends; undefined if that changed. */
  #openRecords(file: string, place: RecordPlace, onRecord: (record: FinishedRecord) => void): number | undefined {
    const damaged: DamagedLine[] = [];
    const noise: Extent[] = []; // not damage, but other readers may stumble over it
    let end = 0;
    for (const { bytes, offset, length, number, isOpen, examined } of scanRecords(file, place)) {
      if (isOpen && typeof examined !== "object") {
        this.#damaged.add(place.dataset);
        break; // torn: it is cut off
      }
      if (isOpen) withUsageError(file, () => appendFileSync(file, "\n")); // only its newline is missing
      end = offset + length + 1;
      if (typeof examined === "string") damaged.push({ offset, length, number, reason: examined });
      else if (examined) onRecord(examined.record);
      else noise.push({ offset, length: length + 1 });
      if (hasMark(bytes)) noise.push({ offset, length: MARK_BYTES });
    }
    if (damaged.length === 0 && noise.length === 0) return end;
    if (damaged.length === 0) {
      withUsageError(file, () => dropExtents(file, noise));
      return undefined;
    }
    this.#damaged.add(place.dataset);
    const told = withUsageError(file, () => setAside(file, damaged, noise));
    this.#notice(`${told}; what is missing now is made again`);
    return undefined;
  }

  /** Whether records of this dataset were damaged: then the journal may know more about rollouts without one. */
  isDamaged(dataset: string): boolean {
    return this.#damaged.has(dataset);
  }

  /** What the journal holds of these rollouts, ended or not. */
  recall(keys: ReadonlySet<string>): Map<string, Unfinished> {
    return keys.size === 0 ? new Map() : recallAttempts(this.journalPath, keys, this.#notice);
  }

  /** Tells which events of these rollouts the journal has already, to the letter. */
  findJournaled(keys: Iterable<RolloutKey>): (event: RunEvent) => boolean {
    const wanted = new Set([...keys].map(journalKeyText));
    const found = new Set<string>();
    scanJournalLines(this.journalPath, ({ key, bytes }) => {
      if (wanted.has(key)) found.add(lineHash(bytes));
    });
    return (event) => found.has(lineHash(redactWritten(journalLine(event)).trimEnd()));
  }

  /** Hands over what the journal knows about unfinished rollouts; works once, so that nothing is kept. */
  takeUnfinished(): Map<string, Unfinished> {
    const unfinished = this.#unfinished;
    this.#unfinished = new Map();
    return unfinished;
  }

  /** Resolves when the event would survive a kill of this process. */
  record(event: RunEvent): Promise<void> {
    const isEntry = event.type === "entry-end" || event.type === "call-start";
    return isEntry && !this.#options.checkpoints ? Promise.resolve() : this.#journal.append(journalLine(event));
  }

  /** Resolves when the record is on disk. */
  async finish(trajectory: Trajectory): Promise<void> {
    const output = this.#outputs.get(trajectory.dataset);
    if (!output) throw new Error(`the output of ${trajectory.dataset} is not open`);
    const path = roundFile(output, trajectory.rollout);
    const file = this.#files.get(path) ?? new AppendFile(path, { ...this.#append(), completeBytes: 0 });
    this.#files.set(path, file);
    await file.appendDurably(sealedLine(trajectory));
  }

  async fail(failure: FailureRecord): Promise<void> {
    await this.#failures.appendDurably(sealedLine(failure));
  }

  async close(): Promise<void> {
    try {
      await Promise.all(
        [...this.#files.values(), this.#journal, this.#failures, this.prompts].map((file) => file.close()),
      );
    } finally {
      this.#release();
    }
  }

  /** What is damaged in it is set aside before its lines are counted on. */
  #openJournal(): ReturnType<typeof scanJournal> {
    const damaged: DamagedLine[] = [];
    const onNotice = this.#notice;
    const scanned = scanJournal(this.journalPath, { onNotice, onDamage: (line) => damaged.push(line) });
    if (damaged.length === 0) return scanned;
    this.#notice(withUsageError(this.journalPath, () => setAside(this.journalPath, damaged)));
    return scanJournal(this.journalPath, { onNotice });
  }

  /**
   * A failure is recorded before its rollout's end is in the journal: an attempt interrupted between the two has
   * still failed. Returns where the last complete line ends; undefined if that changed.
   */
  #countFailures(file: string, unfinished: Map<string, Unfinished>): number | undefined {
    const damaged: DamagedLine[] = [];
    const count = (failure: FailureRecord) => {
      const begun = unfinished.get(recordKeyText(failure));
      if (begun && failure.own !== false) begun.attempts = Math.max(begun.attempts, failure.attempt);
    };
    const end = scanFailures(file, count, (line) => damaged.push(line));
    if (damaged.length === 0) return end;
    this.#notice(withUsageError(file, () => setAside(file, damaged)));
    return undefined;
  }

  readonly #notice = (message: string): void => this.#options.onNotice?.(message);

  #release(): void {
    for (const lock of this.#locks) lock.release();
  }

  #append() {
    const { sync, onPause, giveUp } = this.#options;
    return { sync, onPause, giveUp };
  }
}

/** Who is writing to a run now, if alive as far as we can tell. */
export function writerOf(run: string): Holder | undefined {
  return Lock.holder(join(run, "lock"));
}

/** `path`, or the first of `path.2`, `path.3`, … that does not exist: for a run that must not touch an earlier one. */
export function findFreePath(path: string, isTaken: (path: string) => boolean = existsSync): string {
  if (!isTaken(path)) return path;
  const [, stem = path, extension = ""] = /^(.*?)(\.jsonl)?$/.exec(path) ?? [];
  let n = 2;
  while (isTaken(`${stem}.${n}${extension}`)) n++;
  return `${stem}.${n}${extension}`;
}

function lineHash(line: Buffer | string): string {
  return createHash("sha256").update(line).digest("base64");
}

function makeWritable(path: string): void {
  withUsageError(path, () => {
    mkdirSync(path, { recursive: true });
    accessSync(path, constants.W_OK);
  });
  requireRoom(path);
}

/** Less is not worth starting with: not even the prompts would fit. */
const MIN_ROOM = 1 << 20;

function requireRoom(path: string): void {
  const { blocks, bavail, bsize } = statfsSync(path);
  const free = bavail * bsize;
  // some file systems do not know their size
  if (blocks === 0 || free >= MIN_ROOM) return;
  throw new UsageError(
    `The disk of ${path} is full: ${Math.floor(free / 1024)} kB are free. Make room, or choose another folder`,
  );
}

function takeLock(path: string, what: string): Lock {
  return withUsageError(path, () => Lock.take(path, what));
}

/** An unwritable folder is found here, before the run costs anything. */
function withUsageError<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (typeof (error as NodeJS.ErrnoException).code !== "string") throw error;
    throw new UsageError(`Cannot write to ${path}: ${messageOf(error)}`);
  }
}
