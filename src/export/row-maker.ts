// One format with all its options: from a record, or a pair of them, to a row or the reason why there is none.
import { type Json, UsageError } from "../core/index.ts";
import { isScored, UNSCORED } from "./choose.ts";
import {
  type ColumnType,
  type Container,
  CUT_TAIL,
  type Format,
  type FormatOptions,
  type Pair,
  type PairMode,
  type Written,
} from "./formats/format.ts";
import { FORMATS, findFormat } from "./formats/index.ts";
import { judge } from "./pairs.ts";
import type { ExportRecord } from "./record.ts";
import {
  type LossMode,
  type ReasoningMode,
  type Shape,
  type TrainingDialogue,
  toDialogue,
} from "./training-dialogue.ts";

export type RowOptions = {
  format: string;
  container?: Container;
  pairs?: PairMode;
  /** for `kto`: the score from which a rollout counts as good; 1 by default */
  desirable?: number;
  reasoning?: ReasoningMode;
  loss?: LossMode;
  /** trl: as objects, or as JSON text for `datasets` before 4.7 */
  arguments?: "object" | "string";
  dataSource?: string;
  useCot?: boolean;
  /** leave out rows that would lose something, instead of noting it; a closing word of the user does not count */
  strict?: boolean;
};

/** The side of a split that a row belongs to, and how many rows that side has. */
export type RowPosition = { split: string; index: number };

export class RowMaker {
  readonly container: Container;
  readonly columns: { [name: string]: ColumnType };
  readonly #format: Format;
  readonly #options: RowOptions;
  readonly #shape: Shape;
  readonly #queries = new Set<string>();

  constructor(options: RowOptions) {
    this.#options = options;
    this.#format = findFormat(options.format);
    this.#shape = shapeOf(this.#format, options);
    this.container = options.container ?? this.#format.container;
    this.columns = columnsOf(this.#format, options.pairs);
  }

  get dropsReasoning(): boolean {
    return this.#shape.reasoning === "none" && !this.#format.oncePerQuery;
  }

  /** A rollout that may be in a pair, or why the format cannot express it: then it does not use up a partner. */
  candidate(record: ExportRecord): TrainingDialogue | string {
    const dialogue = toDialogue(record, this.#shape);
    if (typeof dialogue === "string") return dialogue;
    const written = this.#format.write(dialogue, record, this.#formatOptions({ split: "", index: 0 }));
    return "reason" in written ? written.reason : dialogue;
  }

  write(record: ExportRecord, position: RowPosition): Written {
    const query = `${record.dataset}\n${record.query_id}`;
    if (this.#format.oncePerQuery && this.#queries.has(query))
      return { reason: "another rollout of its query went out" };
    const written = this.#strict(this.#write(record, position));
    if (this.#format.oncePerQuery && "row" in written) this.#queries.add(query);
    return written;
  }

  writePair(pair: Pair, position: RowPosition): Written {
    return this.#strict(this.#format.pairs?.preference?.write(pair, this.#formatOptions(position)) as Written);
  }

  info(): { [key: string]: Json } | undefined {
    return this.#format.info?.(this.#options.pairs);
  }

  #write(record: ExportRecord, position: RowPosition): Written {
    const dialogue = toDialogue(record, this.#shape);
    if (typeof dialogue === "string") return { reason: dialogue };
    if (this.#shape.loss && !dialogue.messages.some((message) => message.role === "assistant" && message.loss))
      return { reason: "no message of the agent is left to learn" };
    if (this.#options.pairs !== "kto") return this.#format.write(dialogue, record, this.#formatOptions(position));
    if (!isScored(record)) return { reason: UNSCORED };
    const judged = judge({ record, dialogue }, this.#options.desirable ?? 1);
    if (typeof judged === "string") return { reason: judged };
    return this.#format.pairs?.kto?.write(judged, this.#formatOptions(position)) as Written;
  }

  #strict(written: Written): Written {
    const losses = "notes" in written ? written.notes?.filter((note) => note !== CUT_TAIL) : undefined;
    const note = this.#options.strict ? losses?.[0] : undefined;
    return note === undefined ? written : { reason: note };
  }

  #formatOptions(position: RowPosition): FormatOptions {
    const { dataSource = "agent", useCot = true, arguments: given = "object" } = this.#options;
    return { dataSource, useCot, arguments: given, container: this.container, inline: this.#shape.inline, ...position };
  }
}

function shapeOf(format: Format, options: RowOptions): Shape {
  const mode = options.reasoning ?? format.reasoning.default;
  if (mode === "keep" && !format.reasoning.field)
    throw new UsageError(`${format.name} has no place of its own for reasoning: --reasoning inline, last or drop`);
  if (options.loss && (!format.lossField || options.pairs))
    throw new UsageError(`--loss is not supported ${listAble(format, options.pairs, ({ lossField }) => lossField)}`);
  return {
    reasoning: mode === "drop" ? "none" : mode === "last" ? "last" : "all",
    inline: mode === "inline" || (mode === "last" && !format.reasoning.field),
    loss: options.loss,
  };
}

function columnsOf(format: Format, pairs: PairMode | undefined): { [name: string]: ColumnType } {
  const columns = pairs ? format.pairs?.[pairs]?.columns : format.columns;
  if (columns) return columns;
  throw new UsageError(
    `--pairs ${pairs} is not supported ${listAble(format, undefined, (other) => other.pairs?.[pairs as PairMode])}`,
  );
}

function listAble(format: Format, pairs: PairMode | undefined, knows: (format: Format) => unknown): string {
  const able = [...FORMATS.values()].filter(knows).map(({ name }) => name);
  return `by ${pairs ? `--pairs ${pairs}` : format.name}; these support it: ${able.join(", ")}`;
}
