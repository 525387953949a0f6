// One run as the page sees it: a row for each record with its place in the files, its scores, and what the journal tells.
// Read once and then followed as the files grow; the dialogues stay on disk.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { messageOf } from "../core/index.ts";
import { type Extent, FollowedFile, type Line } from "../files/index.ts";
import {
  AnnotationBook,
  type AnnotationWord,
  type DamagedLine,
  FAILURES_FILE,
  type FailureRecord,
  journalOf,
  judgesOf,
  keyText,
  leftOut,
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
import { TaskScores, type VerdictWord, verdictOf } from "../scoring/index.ts";
import { Names, type RolloutRow, readRow } from "./read-row.ts";

export type IndexedRow = RolloutRow & {
  key: string;
  place: Extent & { file: string };
  verdict: VerdictWord;
  /** null: unscored */
  score: number | null;
  failedChecks: readonly string[];
  /** what people say about it */
  annotation: AnnotationWord;
  tags: readonly string[];
  /** who gave a verdict */
  judges: readonly string[];
};

type Part = { file: FollowedFile; damaged: DamagedLine[]; take(line: Line): string | undefined };

/** How long one look may keep the process from everything else. */
const SLICE_MS = 15;

export class RunIndex {
  readonly path: string;
  readonly rows: IndexedRow[] = [];
  readonly failures = new Map<string, FailureRecord>();
  manifest: Manifest | undefined;
  tally = new RunTally();
  scores: TaskScores;
  readonly annotations: AnnotationBook;
  /** why the folder cannot be read as a run, if so */
  trouble: string | undefined;
  /** another one after every change */
  version = 0;
  /** false until all that was there at the start has been read */
  isRead = false;
  readonly #names = new Names();
  readonly #byKey = new Map<string, number>();
  readonly #parts = new Map<string, Part>();
  #journal = "";

  constructor(path: string) {
    this.path = path;
    this.scores = new TaskScores(path);
    this.annotations = new AnnotationBook(path);
  }

  has(key: string): boolean {
    return this.#byKey.has(key);
  }

  row(dataset: string, id: string): IndexedRow | undefined {
    return this.rows.find((row) => row.dataset === dataset && row.id === id);
  }

  /** The other rollouts of a query, and itself, in order. */
  siblings({ dataset, queryId }: IndexedRow): IndexedRow[] {
    const all = this.rows.filter((row) => row.dataset === dataset && row.queryId === queryId);
    return all.sort((a, b) => a.rollout - b.rollout);
  }

  /** What is damaged, one sentence for each file. */
  get notes(): string[] {
    const parts = [...this.#parts.values()].filter(({ damaged }) => damaged.length > 0);
    const others = [this.scores.damage, this.annotations.damage].filter((damage) => damage !== undefined);
    return [...parts.map(({ file, damaged }) => leftOut(file.path, damaged)), ...others];
  }

  /** Reads what is new, a slice at a time; resolves when all has been read. */
  async update(): Promise<void> {
    try {
      this.manifest = readManifest(join(this.path, MANIFEST_FILE)) ?? this.manifest;
      this.trouble = this.manifest ? undefined : "there is no manifest.json";
    } catch (error) {
      this.trouble = messageOf(error);
    }
    if (!this.manifest) return;
    let since = performance.now();
    for (const part of this.#open(this.manifest)) {
      const seen = part.file.look();
      if (seen === "replaced") this.#forget(part);
      if (seen === "same") continue;
      for (const line of part.file.read()) {
        const reason = part.take(line);
        if (reason !== undefined) part.damaged.push({ ...placeOf(line), number: line.number, reason });
        this.version++;
        if (performance.now() - since < SLICE_MS) continue;
        await new Promise((resolve) => setImmediate(resolve));
        since = performance.now();
      }
    }
    const before = this.version;
    this.scores.update((key) => this.#score(key));
    this.updateAnnotations();
    if (!this.isRead) this.version = before + 1;
    this.isRead = true;
  }

  /** Also right after one was written here: whoever wrote it sees it at once. */
  updateAnnotations(): void {
    this.annotations.update((key) => this.#annotate(key));
  }

  /** Records first: they are what people wait for. */
  *#open(manifest: Manifest): Generator<Part> {
    for (const { dataset, file } of listRecordFiles(this.path, manifest))
      yield this.#part(file, (line) => this.#takeRecord(line, dataset, file));
    yield this.#part(join(this.path, FAILURES_FILE), (line) => this.#takeFailure(line));
    this.#journal = journalOf(this.path, manifest);
    yield this.#part(this.#journal, (line) => this.#takeEvent(line));
  }

  #part(path: string, take: Part["take"]): Part {
    const part = this.#parts.get(path) ?? { file: new FollowedFile(path), damaged: [], take };
    this.#parts.set(path, part);
    return part;
  }

  #takeRecord({ bytes, offset, length }: Line, dataset: string, file: string): string | undefined {
    const read = readRow(bytes, dataset, this.#names);
    if (!read || typeof read === "string") return read;
    const key = keyText(read);
    const place = { file, offset, length };
    const unscored = { verdict: "not scored yet", score: null, failedChecks: NONE } as const;
    const row: IndexedRow = { ...read, key, place, ...unscored, annotation: "none", tags: NONE, judges: NONE };
    const at = this.#byKey.get(key);
    if (at !== undefined) return "repeats a record";
    this.#byKey.set(key, this.rows.length);
    this.rows.push(row);
    this.#score(key);
    this.#annotate(key);
    return undefined;
  }

  #takeFailure({ bytes }: Line): string | undefined {
    const failure = readFailureLine(bytes);
    if (typeof failure === "string") return failure;
    if (failure) this.failures.set(recordKeyText(failure), failure);
    return undefined;
  }

  #takeEvent(line: Line): string | undefined {
    const read = readJournalLine(line, this.#journal);
    if (!read || typeof read === "string") return read;
    if (read.type === "entry-end") this.tally.addEntry(read.usage());
    else this.tally.add(read.event());
    return undefined;
  }

  #score(key: string): void {
    const row = this.rows[this.#byKey.get(key) ?? -1];
    if (!row) return;
    const results = this.scores.resultsOf(key);
    const task = this.scores.scoreOf(key, { stop_reason: row.stopReason });
    row.verdict = verdictOf(task, results.length > 0);
    row.score = task.score;
    row.blame ||= this.#names.one(task.blame ?? "");
    row.failedChecks = this.#names.list(results.filter(({ pass }) => pass === false).map(({ check }) => check));
    this.version++;
  }

  #annotate(key: string): void {
    const row = this.rows[this.#byKey.get(key) ?? -1];
    if (!row) return;
    const remarks = this.annotations.remarksOn(key);
    row.annotation = wordOf(remarks);
    row.tags = this.#names.list(tagsOf(remarks));
    row.judges = this.#names.list(judgesOf(remarks));
    this.version++;
  }

  /** A file that was replaced is read anew. */
  #forget(part: Part): void {
    part.damaged.length = 0;
    this.version++;
    const { path } = part.file;
    if (path === this.#journal) this.tally = new RunTally();
    else if (path.endsWith(FAILURES_FILE)) this.failures.clear();
    else {
      const kept = this.rows.filter(({ place }) => place.file !== path);
      this.rows.length = 0;
      this.#byKey.clear();
      for (const row of kept) {
        this.#byKey.set(row.key, this.rows.length);
        this.rows.push(row);
      }
    }
  }
}

const NONE: readonly string[] = [];

function placeOf({ offset, length }: Line): Extent {
  return { offset, length };
}

/** Whether there is a run in this folder. */
export function isRun(folder: string): boolean {
  return existsSync(join(folder, MANIFEST_FILE));
}
