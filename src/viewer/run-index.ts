// One run as the page sees it: a row for each record with its place in the files, its scores, and what the journal tells.
// Read once and then followed as the files grow; the dialogues stay on disk.
import { statSync } from "node:fs";
import { join } from "node:path";
import { messageOf, namesakeOf, type RolloutKey } from "../core/index.ts";
import type { Line } from "../files/index.ts";
import {
  AnnotationBook,
  FAILURES_FILE,
  type FailureRecord,
  journalOf,
  judgesOf,
  keyText,
  listRecordFiles,
  MANIFEST_FILE,
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
import { type FilePart, FileReader, Turn } from "./file-reader.ts";
import { SHARES } from "./memory.ts";
import { Names } from "./names.ts";
import { Prompts } from "./prompts.ts";
import { readRow } from "./read-row.ts";
import { type IndexedRow, Rows } from "./rows.ts";

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
  readonly #files = new FileReader(() => this.version++);
  readonly #unscored = new Set<string>();
  readonly #recordFiles = new Set<string>();
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
    const others = [this.scores?.damage, this.annotations.damage].filter((damage) => damage !== undefined);
    return [...this.#files.notes, ...others];
  }

  /** How much of the files has been read, from 0 to 1. */
  get progress(): number {
    return this.#files.progress;
  }

  /** Reads what is new, a slice at a time, for as long as is allowed; false if there is more to read. */
  async update(milliseconds = Number.POSITIVE_INFINITY): Promise<boolean> {
    this.#readManifest();
    const { manifest, scores } = this;
    if (!manifest || !scores) return true;
    const turn = new Turn(milliseconds);
    for (const part of this.#records(manifest)) if (!(await this.#files.read(part, turn))) return false;
    if (!(await this.#files.try(scores.path, () => this.#readScores(scores, turn)))) return false;
    if (!(await this.#files.try(this.annotations.path, () => this.#readAnnotations(turn)))) return false;
    if (!(await this.#files.read(this.#failures(), turn))) return false;
    if (!this.isTableRead) this.version++;
    this.isTableRead = true;
    if (!(await this.#files.read(this.#events(), turn))) return false;
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

  async #readScores(scores: TaskScores, turn: Turn): Promise<boolean> {
    const files = this.#files;
    const { path } = scores;
    for (const key of files.isFull(path) ? [] : scores.follow(() => turn.isOver || files.isFull(path))) {
      files.stopIfFull(path, SHARES.scores, "a part of its lines");
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

  *#records(manifest: Manifest): Generator<FilePart> {
    const listed = listRecordFiles(this.path, manifest);
    for (const file of this.#recordFiles) if (!listed.some((one) => one.file === file)) this.#forgetRecords(file);
    for (const { dataset, file } of listed) {
      this.#recordFiles.add(file);
      yield this.#files.part(file, {
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
    this.#files.forget(file);
    this.#recordFiles.delete(file);
    this.version++;
  }

  #failures(): FilePart {
    return this.#files.part(join(this.path, FAILURES_FILE), {
      take: ({ bytes }) => {
        const failure = readFailureLine(bytes);
        if (typeof failure === "string") return failure;
        if (failure) this.failures.set(recordKeyText(failure), failure);
        return undefined;
      },
      forget: () => this.failures.clear(),
    });
  }

  #events(): FilePart {
    const path = this.journal;
    return this.#files.part(path, {
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

/** Whether there is a run in this folder. */
export function isRun(folder: string): boolean {
  try {
    return statSync(join(folder, MANIFEST_FILE)).isFile();
  } catch {
    return false; // none, or not ours to read
  }
}
