// The rows of a run: one for each record, with its place in the files, found by key and by query.
import type { Blame } from "../core/index.ts";
import type { Extent } from "../files/index.ts";
import type { AnnotationWord } from "../runs/index.ts";
import type { VerdictWord } from "../scoring/index.ts";
import type { RolloutRow } from "./read-row.ts";

export type IndexedRow = RolloutRow & {
  /** whose fault it is that the task failed, or else the ending */
  blame: string;
  readonly id: string;
  readonly place: Extent & { file: string };
  verdict: VerdictWord;
  /** null: unscored */
  score: number | null;
  failedChecks: readonly string[];
  passedChecks: readonly string[];
  /** what people say about it */
  annotation: AnnotationWord;
  tags: readonly string[];
  /** who gave a verdict */
  judges: readonly string[];
};

export class Rows {
  readonly all: IndexedRow[] = [];
  /** by dataset and query: its rollouts, in the order of the files */
  readonly #queries = new Map<string, Map<string, IndexedRow[]>>();

  get(dataset: string, queryId: string, rollout: number): IndexedRow | undefined {
    return this.ofQuery(dataset, queryId).find((row) => row.rollout === rollout);
  }

  ofQuery(dataset: string, queryId: string): readonly IndexedRow[] {
    return this.#queries.get(dataset)?.get(queryId) ?? [];
  }

  *byQuery(): Generator<readonly IndexedRow[]> {
    for (const queries of this.#queries.values()) yield* queries.values();
  }

  /** False if there is one with its key already. */
  add(read: RolloutRow, file: string, { offset, length }: Extent): boolean {
    const queries = this.#queries.get(read.dataset) ?? new Map<string, IndexedRow[]>();
    this.#queries.set(read.dataset, queries);
    const own = queries.get(read.queryId);
    if (own?.some(({ rollout }) => rollout === read.rollout)) return false;
    const row = new Row(read, file, offset, length);
    if (own) {
      row.queryId = own[0]?.queryId ?? read.queryId; // one text for all of them
      own.push(row);
    } else queries.set(read.queryId, [row]);
    this.all.push(row);
    return true;
  }

  /** Without those of a file. */
  forget(file: string): void {
    const kept = this.all.filter(({ place }) => place.file !== file);
    this.all.length = 0;
    this.#queries.clear();
    for (const row of kept) {
      const queries = this.#queries.get(row.dataset) ?? new Map<string, IndexedRow[]>();
      this.#queries.set(row.dataset, queries);
      queries.set(row.queryId, [...(queries.get(row.queryId) ?? []), row]);
      this.all.push(row);
    }
  }
}

/** There may be a million: what can be put together from the rest is not kept. */
class Row implements IndexedRow {
  dataset: string;
  queryId: string;
  rollout: number;
  stopReason: string;
  ended: boolean;
  blame: string;
  endBlame: Blame | undefined;
  turns: number;
  steps: number;
  toolCalls: number;
  toolErrors: number;
  tokens: number;
  costUsd: number | null;
  seconds: number;
  endedAt: number;
  scripted: boolean;
  faults: readonly string[];
  tools: readonly string[];
  verdict: VerdictWord = "not scored yet";
  score: number | null = null;
  failedChecks: readonly string[] = NONE;
  passedChecks: readonly string[] = NONE;
  annotation: AnnotationWord = "none";
  tags: readonly string[] = NONE;
  judges: readonly string[] = NONE;
  readonly #file: string;
  readonly #offset: number;
  readonly #length: number;

  constructor(read: RolloutRow, file: string, offset: number, length: number) {
    this.dataset = read.dataset;
    this.queryId = read.queryId;
    this.rollout = read.rollout;
    this.stopReason = read.stopReason;
    this.ended = read.ended;
    this.blame = read.endBlame ?? "";
    this.endBlame = read.endBlame;
    this.turns = read.turns;
    this.steps = read.steps;
    this.toolCalls = read.toolCalls;
    this.toolErrors = read.toolErrors;
    this.tokens = read.tokens;
    this.costUsd = read.costUsd;
    this.seconds = read.seconds;
    this.endedAt = read.endedAt;
    this.scripted = read.scripted;
    this.faults = read.faults;
    this.tools = read.tools;
    this.#file = file;
    this.#offset = offset;
    this.#length = length;
  }

  get id(): string {
    return this.rollout === 0 ? this.queryId : `${this.queryId}#${this.rollout}`;
  }

  get place(): IndexedRow["place"] {
    return { file: this.#file, offset: this.#offset, length: this.#length };
  }
}

const NONE: readonly string[] = [];
