// One run as the page sees it: a row for each record with its place in the files, its scores, and what the journal tells.
// Read once and then followed as the files grow; the dialogues stay on disk.
import { statSync } from "node:fs";
import { join } from "node:path";
import { messageOf, namesakeOf, type RolloutKey, UsageError } from "../core/index.ts";
import { FollowedFile, type Line } from "../files/index.ts";
import {
  AnnotationBook,
  type DamagedLine,
  FAILURES_FILE,
  type FailureRecord,
  journalOf,
  judgesOf,
  keyText,
  leftOut,
  listRecordFiles,
  MANIFEST_FILE,
  MAX_NAMED,
  type Manifest,
  RunTally,
  readFailureLine,
  readJournalLine,
  readManifest,
  recordKeyText,
  tagsOf,
  wordOf,
} from "../runs/index.ts";
import { TaskScores, verdictOf } from "../scoring/index.ts";
import { Attempts } from "./attempts.ts";
import { describeFull, MemoryGauge, SHARES } from "./memory.ts";
import { Names } from "./names.ts";
import { Prompts } from "./prompts.ts";
import { readRow } from "./read-row.ts";
import { type IndexedRow, Rows } from "./rows.ts";

type Part = {
  file: FollowedFile;
  /** of the memory, that may be in use while it is read */
  share: number;
  damaged: DamagedLine[];
  /** what is wrong with the line, if so */
  take(line: Line): string | undefined;
  forget(): void;
};

/** How long reading may keep the process from everything else. */
const SLICE_MS = 12;
const ANOTHER: DamagedLine = { offset: 0, length: 0, number: 0, reason: "" };
/** Of one query, that are looked for where there is no record. */
const MAX_ROLLOUTS = 10_000;

export class RunIndex {
  readonly path: string;
  /** the last failure of each rollout that had one */
  readonly failures = new Map<string, FailureRecord>();
  manifest: Manifest | undefined;
  tally = new RunTally();
  readonly attempts = new Attempts();
  readonly prompts: Prompts;
  /** once there is a manifest */
  scores: TaskScores | undefined;
  /** why the folder cannot be read as a run, if so */
  trouble: string | undefined;
  /** another one after every change; `rowsVersion` only after those of rows and their scores */
  version = 0;
  rowsVersion = 0;
  /** another one when rows were taken away: the others have other numbers then */
  generation = 0;
  /** all that was there when it was looked at: the table; and the rest, which is the journal */
  isTableRead = false;
  isRead = false;
  readonly annotations: AnnotationBook;
  readonly #rows = new Rows();
  readonly #names = new Names();
  readonly #parts = new Map<string, Part>();
  readonly #unscored = new Set<string>();
  readonly #recordFiles = new Set<string>();
  /** what is said about files that are not read to their end */
  readonly #full = new Map<string, string>();
  readonly #memory = new MemoryGauge();
  /** why a file cannot be read, by its path */
  readonly #unreadable = new Map<string, string>();
  #manifestAt: number | undefined;
  #isReadingAnnotations = false;

  constructor(path: string) {
    this.path = path;
    this.prompts = new Prompts(path);
    this.annotations = new AnnotationBook(path, undefined, { isFollowed: true });
  }

  get rows(): readonly IndexedRow[] {
    return this.#rows.all;
  }

  row({ dataset, queryId, rollout }: RolloutKey): IndexedRow | undefined {
    return this.#rows.get(dataset, queryId, rollout);
  }

  /** The rows of each query. */
  get queries(): Iterable<readonly IndexedRow[]> {
    return this.#rows.byQuery();
  }

  /** Whose id this is: a finished, running or failed rollout; of two, the rollout of the shorter name's query comes last. */
  find(dataset: string, id: string): RolloutKey | undefined {
    const other = namesakeOf(id);
    const keys = [{ dataset, queryId: id, rollout: 0 }, ...(other ? [{ dataset, ...other }] : [])];
    return keys.find((key) => this.#knows(key));
  }

  /** Of a finished one, by its id. */
  rowOf(dataset: string, id: string): IndexedRow | undefined {
    const key = this.find(dataset, id);
    return key && this.row(key);
  }

  /** All rollouts of its query, itself too, in order. */
  siblings({ dataset, queryId, rollout }: RolloutKey): RolloutKey[] {
    const numbers = new Set([rollout]);
    for (const row of this.#rows.ofQuery(dataset, queryId)) numbers.add(row.rollout);
    for (let number = 0; number <= Math.min(this.attempts.most, MAX_ROLLOUTS); number++)
      if (this.#knows({ dataset, queryId, rollout: number })) numbers.add(number);
    return [...numbers].sort((a, b) => a - b).map((number) => ({ dataset, queryId, rollout: number }));
  }

  #knows(key: RolloutKey): boolean {
    return this.row(key) !== undefined || this.failures.has(keyText(key)) || this.attempts.has(key);
  }

  /** The last failure of each rollout that has no record. */
  get unfinished(): FailureRecord[] {
    return [...this.failures.values()].filter(
      ({ dataset, query_id, rollout }) => !this.#rows.get(dataset, query_id, rollout),
    );
  }

  get journal(): string {
    return this.manifest ? journalOf(this.path, this.manifest) : "";
  }

  /** What is damaged or cannot be read, one sentence for each file. */
  get notes(): string[] {
    const parts = [...this.#parts.values()].filter(({ damaged }) => damaged.length > 0);
    const others = [this.scores?.damage, this.annotations.damage].filter((damage) => damage !== undefined);
    const unreadable = [...this.#unreadable].map(([path, reason]) => `${path}: cannot be read (${reason})`);
    return [
      ...this.#full.values(),
      ...unreadable,
      ...parts.map(({ file, damaged }) => leftOut(file.path, damaged)),
      ...others,
    ];
  }

  /** How much of the files has been read, from 0 to 1. */
  get progress(): number {
    const files = [...this.#parts.values()].map(({ file }) => file);
    const size = files.reduce((sum, file) => sum + file.size, 0);
    return size === 0 ? 1 : files.reduce((sum, file) => sum + file.end, 0) / size;
  }

  /** Reads what is new, a slice at a time, for as long as is allowed; false if there is more to read. */
  async update(milliseconds = Number.POSITIVE_INFINITY): Promise<boolean> {
    this.#readManifest();
    const { manifest, scores } = this;
    if (!manifest || !scores) return true;
    const turn = new Turn(milliseconds);
    for (const part of this.#records(manifest)) if (!(await this.#read(part, turn))) return false;
    if (!(await this.#try(scores.path, () => this.#readScores(scores, turn)))) return false;
    if (!(await this.#try(this.annotations.path, () => this.#readAnnotations(turn)))) return false;
    if (!(await this.#read(this.#failures(), turn))) return false;
    if (!this.isTableRead) this.version++;
    this.isTableRead = true;
    if (!(await this.#read(this.#events(), turn))) return false;
    if (!this.isRead) this.version++;
    this.isRead = true;
    return true;
  }

  #readManifest(): void {
    const path = join(this.path, MANIFEST_FILE);
    let changedAt: number | undefined;
    try {
      changedAt = statSync(path, { throwIfNoEntry: false })?.mtimeMs;
    } catch (error) {
      if (this.trouble === undefined) this.version++;
      this.trouble = `the folder cannot be read (${messageOf(error)})`;
      this.#manifestAt = Number.NaN; // to be looked at again
      return;
    }
    if (changedAt === this.#manifestAt && (changedAt !== undefined || this.trouble !== undefined)) return;
    this.#manifestAt = changedAt;
    this.version++;
    try {
      this.manifest = readManifest(path) ?? this.manifest;
      this.trouble = changedAt === undefined ? "there is no manifest.json" : undefined;
      if (this.manifest) this.scores ??= new TaskScores(this.path, undefined, undefined, { isFollowed: true });
    } catch (error) {
      this.trouble = messageOf(error);
    }
  }

  /** A file that cannot be read is named, and looked at again the next time: the others are read. */
  async #try(path: string, read: () => Promise<boolean>): Promise<boolean> {
    let reason: string | undefined;
    const isDone = await read().catch((error) => {
      reason = messageOf(error);
      return true;
    });
    if (reason !== this.#unreadable.get(path)) this.version++;
    if (reason === undefined) this.#unreadable.delete(path);
    else this.#unreadable.set(path, reason);
    return isDone;
  }

  async #read(part: Part, turn: Turn): Promise<boolean> {
    if (this.#full.has(part.file.path)) return true;
    return this.#try(part.file.path, () => this.#readLines(part, turn));
  }

  async #readLines(part: Part, turn: Turn): Promise<boolean> {
    const seen = part.file.look();
    if (seen === "replaced") {
      part.damaged.length = 0;
      part.forget();
      this.version++;
    }
    if (seen === "same") return true;
    for (const line of part.file.read(() => turn.isOver)) {
      const { offset, length, number } = line;
      if (this.#memory.isFull(part.share)) {
        this.#full.set(part.file.path, describeFull(part.file.path, `its first ${number} lines`));
        this.version++;
        return true;
      }
      const reason = takeLine(part, line);
      const isNamed = part.damaged.length < MAX_NAMED; // of the others it is enough to know that they are there
      if (reason !== undefined) part.damaged.push(isNamed ? { offset, length, number, reason } : ANOTHER);
      this.version++;
      if (turn.isSliceOver) await turn.pause();
    }
    return !turn.isOver;
  }

  async #readScores(scores: TaskScores, turn: Turn): Promise<boolean> {
    const { path } = scores;
    for (const key of this.#full.has(path) ? [] : scores.follow(() => turn.isOver || this.#full.has(path))) {
      if (this.#memory.isFull(SHARES.scores)) this.#full.set(path, describeFull(path, "a part of its lines"));
      this.#unscored.add(key);
      if (turn.isSliceOver) await turn.pause();
    }
    for (const key of this.#unscored) {
      this.#score(scores, key);
      this.#unscored.delete(key);
      if (turn.isSliceOver) await turn.pause();
    }
    return !turn.isOver;
  }

  async #readAnnotations(turn: Turn): Promise<boolean> {
    this.#isReadingAnnotations = true;
    try {
      for (const key of this.annotations.follow(() => turn.isOver)) {
        this.#annotate(key);
        if (turn.isSliceOver) await turn.pause();
      }
    } finally {
      this.#isReadingAnnotations = false;
    }
    return !turn.isOver;
  }

  /** Right after one was written here: whoever wrote it sees it at once, unless all are being read anyway. */
  updateAnnotations(): void {
    if (this.#isReadingAnnotations) return;
    for (const key of this.annotations.follow()) this.#annotate(key);
  }

  *#records(manifest: Manifest): Generator<Part> {
    const listed = listRecordFiles(this.path, manifest);
    for (const file of this.#recordFiles) if (!listed.some((one) => one.file === file)) this.#forgetRecords(file);
    for (const { dataset, file } of listed) {
      this.#recordFiles.add(file);
      yield this.#part(file, {
        share: SHARES.records,
        take: (line) => this.#takeRecord(line, dataset, file),
        forget: () => {
          this.#rows.forget(file);
          this.generation++;
          this.rowsVersion++;
        },
      });
    }
  }

  /** A round's file that vanished is not listed any more, nor is one that the manifest does not name. */
  #forgetRecords(file: string): void {
    this.#parts.get(file)?.forget();
    this.#parts.delete(file);
    this.#unreadable.delete(file);
    this.#full.delete(file);
    this.#recordFiles.delete(file);
    this.version++;
  }

  #failures(): Part {
    return this.#part(join(this.path, FAILURES_FILE), {
      take: ({ bytes }) => {
        const failure = readFailureLine(bytes);
        if (typeof failure === "string") return failure;
        if (failure) this.failures.set(recordKeyText(failure), failure);
        return undefined;
      },
      forget: () => this.failures.clear(),
    });
  }

  #events(): Part {
    const path = this.journal;
    return this.#part(path, {
      take: (line) => {
        const read = readJournalLine(line, path);
        if (!read || typeof read === "string") return read;
        if (read.type === "entry-end") this.tally.addEntry(read.usage());
        else this.tally.add(read.event());
        this.attempts.take(read, path);
        return undefined;
      },
      forget: () => {
        this.tally = new RunTally();
        this.attempts.clear();
      },
    });
  }

  #part(path: string, how: Pick<Part, "take" | "forget"> & { share?: number }): Part {
    const part = this.#parts.get(path) ?? { file: new FollowedFile(path), damaged: [], share: SHARES.rest, ...how };
    this.#parts.set(path, part);
    return part;
  }

  #takeRecord({ bytes, offset, length }: Line, dataset: string, file: string): string | undefined {
    const read = readRow(bytes, dataset, this.#names);
    if (!read || typeof read === "string") return read;
    if (read.dataset !== dataset) return undefined; // a file that other runs write to as well
    if (!this.#rows.add(read, file, { offset, length })) return "repeats a record";
    if (this.scores?.isEmpty === false) this.#unscored.add(keyText(read));
    if (this.annotations.remarks.size > 0) this.#annotate(keyText(read));
    this.rowsVersion++;
    return undefined;
  }

  #annotate(key: string): void {
    const [dataset, queryId, rollout] = JSON.parse(key) as [string, string, number];
    const row = this.#rows.get(dataset, queryId, rollout);
    if (!row) return; // its record comes later, or never
    const remarks = this.annotations.remarksOn(key);
    row.annotation = wordOf(remarks);
    row.tags = this.#names.list(tagsOf(remarks));
    row.judges = this.#names.list(judgesOf(remarks));
    this.version++;
    this.rowsVersion++;
  }

  #score(scores: TaskScores, key: string): void {
    const [dataset, queryId, rollout] = JSON.parse(key) as [string, string, number];
    const row = this.#rows.get(dataset, queryId, rollout);
    if (!row) return; // its record comes later
    const results = scores.resultsOf(key);
    const task = scores.scoreOf(key, { stop_reason: row.stopReason, blame: row.endBlame });
    const named = (wanted: boolean) =>
      this.#names.list(results.filter(({ pass }) => pass === wanted).map(({ check }) => check));
    row.verdict = verdictOf(task, results.length > 0);
    row.score = task.score;
    row.blame = this.#names.one(task.blame ?? row.endBlame ?? "");
    row.failedChecks = named(false);
    row.passedChecks = named(true);
    this.version++;
    this.rowsVersion++;
  }
}

/** Whatever a line holds, the lines behind it are read; what a newer version wrote is left alone. */
function takeLine(part: Part, line: Line): string | undefined {
  try {
    return part.take(line);
  } catch (error) {
    if (error instanceof UsageError) throw error;
    return `cannot be read (${messageOf(error)})`;
  }
}

/** How long one reads at a time, and how long in all. */
class Turn {
  readonly #end: number;
  #since = performance.now();

  constructor(milliseconds: number) {
    this.#end = this.#since + milliseconds;
  }

  get isOver(): boolean {
    return performance.now() > this.#end;
  }

  get isSliceOver(): boolean {
    return performance.now() - this.#since > SLICE_MS;
  }

  async pause(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    this.#since = performance.now();
  }
}

/** Whether there is a run in this folder. */
export function isRun(folder: string): boolean {
  try {
    return statSync(join(folder, MANIFEST_FILE)).isFile();
  } catch {
    return false; // none, or not ours to read
  }
}
