// One run as the page sees it: a row for each record with its place in the files, its scores, and what the journal tells.
// Read once and then followed as the files grow; the dialogues stay on disk.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { messageOf, namesakeOf, type RolloutKey } from "../core/index.ts";
import { type Extent, FollowedFile, type Line } from "../files/index.ts";
import {
  type DamagedLine,
  FAILURES_FILE,
  type FailureRecord,
  journalOf,
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
} from "../runs/index.ts";
import { TaskScores, type VerdictWord, verdictOf } from "../scoring/index.ts";
import { Attempts } from "./attempts.ts";
import { Prompts } from "./prompts.ts";
import { Names, type RolloutRow, readRow } from "./read-row.ts";

export type IndexedRow = RolloutRow & {
  key: string;
  place: Extent & { file: string };
  verdict: VerdictWord;
  /** null: unscored */
  score: number | null;
  failedChecks: readonly string[];
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
  readonly attempts = new Attempts();
  readonly prompts: Prompts;
  scores: TaskScores;
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
    this.prompts = new Prompts(path);
  }

  has(key: string): boolean {
    return this.#byKey.has(key);
  }

  row(key: RolloutKey): IndexedRow | undefined {
    return this.rows[this.#byKey.get(keyText(key)) ?? -1];
  }

  /** Whose id this is: a finished, running or failed rollout; of two, the rollout of the shorter name's query comes last. */
  find(dataset: string, id: string): RolloutKey | undefined {
    const other = namesakeOf(id);
    const keys = [{ dataset, queryId: id, rollout: 0 }, ...(other ? [{ dataset, ...other }] : [])];
    return keys.find((key) => this.#knows(key));
  }

  /** All rollouts of its query, itself too, in order. */
  siblings({ dataset, queryId, rollout }: RolloutKey): RolloutKey[] {
    const numbers = new Set([rollout]);
    for (const row of this.rows) if (row.queryId === queryId && row.dataset === dataset) numbers.add(row.rollout);
    for (let number = 0; number <= Math.min(this.attempts.most, MAX_ROLLOUTS); number++)
      if (this.#knows({ dataset, queryId, rollout: number })) numbers.add(number);
    return [...numbers].sort((a, b) => a - b).map((number) => ({ dataset, queryId, rollout: number }));
  }

  #knows(key: RolloutKey): boolean {
    const text = keyText(key);
    return this.#byKey.has(text) || this.failures.has(text) || this.attempts.has(key);
  }

  /** What is damaged, one sentence for each file. */
  get notes(): string[] {
    const parts = [...this.#parts.values()].filter(({ damaged }) => damaged.length > 0);
    const scores = this.scores.damage === undefined ? [] : [this.scores.damage];
    return [...parts.map(({ file, damaged }) => leftOut(file.path, damaged)), ...scores];
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
    if (!this.isRead) this.version = before + 1;
    this.isRead = true;
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
    const row: IndexedRow = { ...read, key, place, verdict: "not scored yet", score: null, failedChecks: NONE };
    const at = this.#byKey.get(key);
    if (at !== undefined) return "repeats a record";
    this.#byKey.set(key, this.rows.length);
    this.rows.push(row);
    this.#score(key);
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
    this.attempts.take(read, this.#journal);
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

  /** A file that was replaced is read anew. */
  #forget(part: Part): void {
    part.damaged.length = 0;
    this.version++;
    const { path } = part.file;
    if (path === this.#journal) {
      this.tally = new RunTally();
      this.attempts.clear();
    } else if (path.endsWith(FAILURES_FILE)) this.failures.clear();
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
/** Of one query, that are looked for where there is no record. */
const MAX_ROLLOUTS = 10_000;

function placeOf({ offset, length }: Line): Extent {
  return { offset, length };
}

/** Whether there is a run in this folder. */
export function isRun(folder: string): boolean {
  return existsSync(join(folder, MANIFEST_FILE));
}
