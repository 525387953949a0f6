// One format with all its options: from a record, or a pair of them, to rows or the reason why there are none.
import { createHash } from "node:crypto";
import { type Json, UsageError } from "../core/index.ts";
import type { TextFormatName, ToolFormat } from "../models/index.ts";
import { isScored, UNSCORED } from "./choose.ts";
import {
  type ColumnType,
  type Container,
  CUT_TAIL,
  type Format,
  type FormatOptions,
  type GroundTruth,
  type Pair,
  type PairMode,
  structureProblem,
  type Written,
} from "./formats/format.ts";
import { FORMATS, findFormat } from "./formats/index.ts";
import { judge } from "./pairs.ts";
import type { ExportRecord } from "./record.ts";
import type { DatasetRow } from "./row-text.ts";
import { splitAtSummaries, summariesOf } from "./segments.ts";
import { inText, replyInText } from "./text-dialogue.ts";
import {
  type AgentMessage,
  type DialogueMessage,
  type LossMode,
  type ReasoningMode,
  type Shape,
  type TrainingDialogue,
  toDialogue,
} from "./training-dialogue.ts";
import { learntOf, type Part, type Unroll, unroll } from "./unroll.ts";

export type RowOptions = {
  format: string;
  container?: Container;
  pairs?: PairMode;
  /** for `kto`: the score from which a rollout counts as good; 1 by default */
  desirable?: number;
  /** one row per agent turn, per reply, or per dialogue; by default what keeps reasoning in the format's templates */
  unroll?: Unroll;
  reasoning?: ReasoningMode;
  loss?: LossMode;
  /** trl: as objects, or as JSON text for `datasets` before 4.7 */
  arguments?: "object" | "string";
  /** as recorded, or nine letters and digits, which Mistral's templates demand; the default is the format's */
  callIds?: "keep" | "short";
  /** rows as text, for models without function calling; native by default, whatever was on the wire */
  toolFormat?: ToolFormat;
  dataSource?: string;
  useCot?: boolean;
  /** leave out rows that would lose something, instead of noting it; a closing word of the user does not count */
  strict?: boolean;
};

/** The side of a split that a row belongs to, and how many rows that side has. */
export type RowPosition = { split: string; index: number };

export type Made = {
  row: DatasetRow;
  notes: string[] /** the agent's messages that a trainer learns */;
  learnt: AgentMessage[];
};
/** The rows of a record and what was lost with others, or why there are none. */
export type MadeRows = { rows: Made[]; lost: string[] } | { reason: string };

const REPAIRED = "half surrogate pairs became U+FFFD";
const SUMMARISED = "its context was summarised on the way: a pair would compare different contexts";
const NOTHING = "no message of the agent is left to learn";

export class RowMaker {
  readonly container: Container;
  readonly columns: { [name: string]: ColumnType };
  readonly format: Format;
  readonly unroll: Unroll;
  readonly #options: RowOptions;
  readonly #shape: Shape;
  readonly #textFormat: TextFormatName | undefined;

  constructor(options: RowOptions) {
    this.#options = options;
    this.format = findFormat(options.format);
    this.#shape = shapeOf(this.format, options);
    this.#textFormat = textFormatOf(this.format, options);
    this.unroll = unrollOf(this.format, options, this.#shape);
    this.container = options.container ?? this.format.container;
    this.columns = { id: "string", query_id: "string", ...columnsOf(this.format, options, this.unroll) };
  }

  get dropsReasoning(): boolean {
    return this.#shape.reasoning === "none" && !this.format.oncePerQuery;
  }

  /** What the trainer must be told. */
  get advice(): string | undefined {
    return this.format.advice?.(this.unroll, this.#options.pairs);
  }

  /** A rollout that may be in a pair, or why it cannot. */
  candidate(record: ExportRecord): TrainingDialogue | string {
    if (summariesOf(record).length > 0) return SUMMARISED;
    const dialogue = this.#dialogueOf(record);
    return typeof dialogue === "string" ? dialogue : (structureProblem(dialogue.messages) ?? dialogue);
  }

  write(record: ExportRecord, position: RowPosition, groundTruth?: GroundTruth): MadeRows {
    if (this.#options.pairs === "kto") return this.#writeJudged(record, position);
    const made: (Made | { reason: string })[] = [];
    for (const segment of this.format.canonical ? [{ record, mark: "" }] : splitAtSummaries(record)) {
      if (this.format.oncePerQuery && made.length > 0) break;
      const dialogue = this.#dialogueOf(segment.record);
      if (typeof dialogue === "string") return { reason: dialogue };
      for (const part of this.#partsOf(dialogue)) {
        const marked = { ...part, mark: segment.mark + part.mark };
        const index = position.index + made.length;
        made.push(this.#writePart(marked, segment.record, { ...position, index }, groundTruth));
      }
      if (this.#shape.loss === "until-error" && endsWithError(dialogue)) break;
    }
    return made.length === 0 ? { reason: NOTHING } : gather(made);
  }

  writePair(given: Pair, position: RowPosition): Made | { reason: string } {
    const pair = { ...given, ...this.#replies(given.prompt, { chosen: given.chosen, rejected: given.rejected }) };
    const { chosen, rejected, records } = pair;
    const written = this.format.pairs?.preference?.write(pair, this.#formatOptions(position, undefined)) as Written;
    return this.#made(written, `${records.chosen.id}>${records.rejected.id}`, records.chosen, [chosen, rejected]);
  }

  info(): { [key: string]: Json } | undefined {
    return this.format.info?.(this.#options.pairs);
  }

  #dialogueOf(record: ExportRecord): TrainingDialogue | string {
    const dialogue = toDialogue(record, this.#shape);
    const isShort = (this.#options.callIds ?? (this.format.shortIds ? "short" : "keep")) === "short";
    if (typeof dialogue === "string" || !isShort) return dialogue;
    return { ...dialogue, messages: dialogue.messages.map(shortenIds) };
  }

  #partsOf(dialogue: TrainingDialogue): Part[] {
    const isWhole = this.format.oncePerQuery || (this.format.canonical && !this.#shape.loss);
    if (isWhole && this.unroll === "dialogue") return [{ dialogue, context: undefined, mark: "" }];
    return unroll(dialogue, this.unroll);
  }

  #writePart(
    part: Part,
    given: ExportRecord,
    position: RowPosition,
    groundTruth: GroundTruth | undefined,
  ): Made | { reason: string } {
    const { mark } = part;
    const { messages } = part.dialogue;
    const reason = this.format.canonical || this.format.oncePerQuery ? undefined : structureProblem(messages);
    if (reason) return { reason };
    const { dialogue, context } = this.#textFormat ? inText(part.dialogue, this.#textFormat, part.context) : part;
    const record = this.#textFormat ? { ...given, tools: undefined } : given;
    const written = this.format.write(dialogue, record, { ...this.#formatOptions(position, context), groundTruth });
    const id = this.format.oncePerQuery ? record.query_id : `${record.id}${mark}`;
    const made = this.#made(
      written,
      id,
      record,
      learntOf(("messages" in written && written.messages) || dialogue.messages),
    );
    if (!("row" in made)) return made;
    const isCut = context === undefined && messages.length < record.messages.length;
    return {
      ...made,
      notes: [...made.notes, ...(isCut ? [CUT_TAIL] : []), ...(dialogue.isRepaired ? [REPAIRED] : [])],
    };
  }

  #writeJudged(record: ExportRecord, position: RowPosition): MadeRows {
    if (!isScored(record)) return { reason: UNSCORED };
    const dialogue = this.candidate(record);
    if (typeof dialogue === "string") return { reason: dialogue };
    const all = judge({ record, dialogue }, this.#options.desirable ?? 1);
    if (all.length === 0) return { reason: "the agent answers no user" };
    return gather(
      all.map(({ judged: given, mark }, number) => {
        const judged = { ...given, ...this.#replies(given.prompt, { completion: given.completion }) };
        const options = this.#formatOptions({ ...position, index: position.index + number }, undefined);
        const written = this.format.pairs?.kto?.write(judged, options) as Written;
        return this.#made(written, `${record.id}${mark}`, record, [judged.completion]);
      }),
    );
  }

  /** A prompt and the replies to it, as text where asked for. */
  #replies<Replies extends { [name: string]: AgentMessage }>(prompt: TrainingDialogue, replies: Replies) {
    const name = this.#textFormat;
    if (!name) return { prompt, ...replies };
    const texts = Object.entries(replies).map(([key, reply]) => [key, replyInText(reply, prompt.tools, name)]);
    return { prompt: inText(prompt, name).dialogue, ...(Object.fromEntries(texts) as Replies) };
  }

  #made(written: Written, id: string, { query_id }: ExportRecord, learnt: AgentMessage[]): Made | { reason: string } {
    if ("reason" in written) return written;
    const { row, notes = [] } = written;
    if (this.#options.strict && notes[0] !== undefined) return { reason: notes[0] };
    return { row: { id, query_id, ...row, ...(row.id === undefined ? {} : { id }) }, notes, learnt };
  }

  #formatOptions(position: RowPosition, context: number | undefined): FormatOptions {
    const { dataSource = "agent", useCot = true, arguments: given = "object" } = this.#options;
    const { inline } = this.#shape;
    return { dataSource, useCot, arguments: given, container: this.container, inline, context, ...position };
  }
}

/** A record counts as used if one of its rows goes out; what became of the others is noted. */
function gather(parts: (Made | { reason: string })[]): MadeRows {
  const rows = parts.filter((part) => "row" in part);
  const reasons = parts.flatMap((part) => ("reason" in part ? [part.reason] : []));
  if (rows.length === 0) return { reason: reasons[0] ?? NOTHING };
  return { rows, lost: reasons.map((reason) => `a row left out: ${reason}`) };
}

/** Nothing is learnt after an error, in this stretch or the next. */
function endsWithError({ messages }: TrainingDialogue): boolean {
  const last = messages.findLast((message) => message.role === "assistant");
  return last?.role === "assistant" && last.loss === false;
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

function textFormatOf(format: Format, { toolFormat = "native" }: RowOptions): TextFormatName | undefined {
  if (toolFormat === "native") return undefined;
  if (!format.oncePerQuery) return toolFormat;
  throw new UsageError(`--tool-format ${toolFormat} does not go with ${format.name}, whose trainer plays the rollouts`);
}

function unrollOf(format: Format, { unroll: asked, pairs, toolFormat = "native" }: RowOptions, shape: Shape): Unroll {
  if (asked && pairs)
    throw new UsageError(`--unroll does not go with --pairs ${pairs}, whose rows hold one reply each`);
  if (asked && format.oncePerQuery && asked !== "dialogue")
    throw new UsageError(`--unroll ${asked} does not go with ${format.name}, which has one row per query`);
  const refusal = asked && format.refuses?.[asked];
  if (refusal) throw new UsageError(`--unroll ${asked} does not go with ${format.name}: ${refusal}`);
  const isText = toolFormat !== "native";
  if (asked === "turn" && isText && format.learnsBehindUser)
    throw new UsageError(
      `--unroll turn does not go with ${format.name} and --tool-format ${toolFormat}: results are user messages there, and rows have no loss flags`,
    );
  const usual = shape.reasoning === "all" ? format.unroll : undefined;
  // templates keep reasoning behind the last user message, and in text that is the last result
  return asked ?? (isText && usual === "turn" ? "step" : usual) ?? "dialogue";
}

function columnsOf(format: Format, { pairs }: RowOptions, mode: Unroll): { [name: string]: ColumnType } {
  const columns = pairs ? format.pairs?.[pairs]?.columns : (format.columnsFor?.(mode) ?? format.columns);
  if (columns) return columns;
  throw new UsageError(
    `--pairs ${pairs} is not supported ${listAble(format, undefined, (other) => other.pairs?.[pairs as PairMode])}`,
  );
}

function listAble(format: Format, pairs: PairMode | undefined, knows: (format: Format) => unknown): string {
  const able = [...FORMATS.values()].filter(knows).map(({ name }) => name);
  return `by ${pairs ? `--pairs ${pairs}` : format.name}; these support it: ${able.join(", ")}`;
}

function shortenIds(message: DialogueMessage): DialogueMessage {
  if (message.role === "user") return message;
  if (message.role === "tool") return { ...message, callId: shorten(message.callId) };
  return { ...message, calls: message.calls.map((call) => ({ ...call, id: shorten(call.id) })) };
}

function shorten(id: string): string {
  if (/^[A-Za-z0-9]{9}$/.test(id)) return id;
  return BigInt(`0x${createHash("sha256").update(id).digest("hex")}`)
    .toString(36)
    .slice(0, 9);
}
