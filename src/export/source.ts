// Records from their files: read, labelled, scored and transformed, one at a time.
import { isUtf8 } from "node:buffer";
import { basename } from "node:path";
import { didYouMean, formatLocation, isObject, type Location, UsageError, withExactNumbers } from "../core/index.ts";
import { type Extent, ExtentReader, readLines } from "../files/index.ts";
import { AnnotationBook, CHANGED, examineRecord, judgesOf, keyText, MISNAMED, tagsOf, wordOf } from "../runs/index.ts";
import { TaskScores } from "../scoring/index.ts";
import { BaseLabels } from "./base-labels.ts";
import { findInputs, type InputFile } from "./inputs.ts";
import { PromptBook } from "./prompts.ts";
import { type ExportRecord, readRecord } from "./record.ts";
import { loadTransform, type Transform } from "./transform.ts";

export type SourceOptions = {
  /** run folders, folders of result files, files */
  inputs: readonly string[];
  /** a dataset folder, for records that name neither prompt nor tools */
  basePath?: string;
  /** the annotators whose words count (default: all) */
  annotators?: readonly string[];
  /** a TypeScript or JavaScript file, or the function itself */
  transform?: string | Transform;
  /** what is damaged in prompts and scores, one line for each file */
  onNotice?: (message: string) => void;
  /** one more was read */
  onRecord?: () => void;
};

/** Where a line is: in which file, at which bytes, and its number there. */
export type LineSource = Extent & { input: InputFile; number: number };
export type Located = {
  source: LineSource;
  record: ExportRecord;
  /** its checksum does not match */
  changed?: boolean;
};
/** A line that yields no record, with the reason. */
export type Missed = { source: LineSource; reason: string };

const BROKEN = "is not valid JSON";
const TORN = "a last line that is torn";
const BY_TRANSFORM = "left out by the transform";

export class Source {
  readonly inputs: InputFile[];
  readonly #base: BaseLabels | undefined;
  readonly #transform: Transform | undefined;
  readonly #prompts = new Map<string, PromptBook>();
  readonly #scores = new Map<string, TaskScores>();
  readonly #annotations = new Map<string, AnnotationBook>();
  readonly #reader = new ExtentReader();
  readonly #onRecord: () => void;

  private constructor(
    inputs: InputFile[],
    base: BaseLabels | undefined,
    { transform, annotators, onNotice = () => {}, onRecord = () => {} }: SourceOptions & { transform?: Transform },
  ) {
    this.#onRecord = onRecord;
    this.inputs = inputs;
    this.#base = base;
    this.#transform = transform;
    for (const { run } of inputs) {
      if (run === undefined || this.#prompts.has(run)) continue;
      this.#prompts.set(run, new PromptBook(run, onNotice));
      const scores = new TaskScores(run);
      this.#scores.set(run, scores);
      const annotations = new AnnotationBook(run, annotators);
      this.#annotations.set(run, annotations);
      for (const { damage } of [scores, annotations]) if (damage !== undefined) onNotice(damage);
    }
    refuseStrangers(annotators, this.#annotations);
  }

  static async open(options: SourceOptions): Promise<Source> {
    const { inputs, basePath, transform: given } = options;
    const transform = typeof given === "string" ? await loadTransform(given) : given;
    const base = basePath === undefined ? undefined : new BaseLabels(basePath);
    return new Source(findInputs(inputs), base, { ...options, transform });
  }

  /** A line that is no JSON is one record less; if no line is, the files are not what they were taken for. */
  async *read(): AsyncGenerator<Located | Missed> {
    let firstBroken: Location | undefined;
    let isAnyJson = false;
    for (const input of this.inputs) {
      for (const { bytes, isOpen, offset, length, number } of readLines(input.file)) {
        const text = lineText(bytes);
        if (text.trim() === "") continue;
        this.#onRecord();
        const source = { input, offset, length, number };
        const line = parseLine(text);
        if (line === undefined) {
          if (isOpen && input.run !== undefined) yield { source, reason: TORN };
          else {
            firstBroken ??= { file: input.file, line: number };
            yield { source, reason: `${BROKEN} (first: ${shortly(firstBroken)})` };
          }
          continue;
        }
        isAnyJson = true;
        const damage = damageOf(bytes, input);
        if (damage !== undefined && damage !== CHANGED) {
          yield { source, reason: `damaged: ${damage}` };
          continue;
        }
        const pending = this.#make(line, source);
        const record = pending instanceof Promise ? await pending : pending;
        yield typeof record === "string" ? { source, reason: record } : { source, record, changed: damage === CHANGED };
      }
    }
    if (firstBroken && !isAnyJson) throw new UsageError(`${BROKEN}, nor is any other line`, firstBroken);
  }

  /** The record of a line that was read before. */
  async readAgain(source: LineSource): Promise<ExportRecord> {
    const { file } = source.input;
    const record = await this.#make(parseLine(lineText(this.#reader.read(file, source))), source);
    if (typeof record === "string") throw new UsageError(`has changed while it was read (${record})`, { file });
    return record;
  }

  /** Whether its run was scored, even if no check could decide. */
  isEvaluated({ run }: InputFile): boolean {
    return run !== undefined && this.#scores.get(run)?.isEmpty === false;
  }

  close(): void {
    this.#reader.close();
  }

  #make(line: unknown, { input, number }: LineSource): ExportRecord | string | Promise<ExportRecord | string> {
    const record = readRecord(line, input.dataset);
    if (typeof record !== "string") this.#label(record, input);
    if (!this.#transform) return record;
    return this.#transformed(typeof record === "string" ? emptyRecord(line, input) : record, {
      file: input.file,
      line: number,
      raw: line,
    });
  }

  #label(record: ExportRecord, { run }: InputFile): void {
    if (run !== undefined) {
      this.#prompts.get(run)?.label(record);
      this.#annotate(record, this.#annotations.get(run));
      if (record.score === undefined) Object.assign(record, this.#scoreOf(record, run));
    }
    this.#base?.label(record);
  }

  #annotate(record: ExportRecord, book: AnnotationBook | undefined): void {
    const { dataset, query_id: queryId, rollout } = record;
    if (!book || book.remarks.size === 0) return;
    const remarks = book.remarksOn(keyText({ dataset, queryId, rollout }));
    if (remarks.length > 0) record.annotation = { word: wordOf(remarks), tags: tagsOf(remarks), by: judgesOf(remarks) };
  }

  #scoreOf(record: ExportRecord, run: string): Pick<ExportRecord, "score" | "solved" | "decided_by"> {
    const { dataset, query_id: queryId, rollout, metadata } = record;
    const { stop_reason = "", blame } = metadata;
    const key = keyText({ dataset, queryId, rollout });
    const found = this.#scores.get(run)?.scoreOf(key, { stop_reason, blame });
    const decided_by = found && found.decided_by.length > 0 ? found.decided_by : undefined;
    return { score: found?.score ?? undefined, solved: found?.pass ?? undefined, decided_by };
  }

  async #transformed(record: ExportRecord, source: Parameters<Transform>[1]): Promise<ExportRecord | string> {
    const result = await this.#transform?.(record, source);
    if (!result) return BY_TRANSFORM;
    return result.messages.length === 0 ? "the line has no messages" : result;
  }
}

/** A mistyped name would leave out everything. */
function refuseStrangers(annotators: readonly string[] | undefined, books: ReadonlyMap<string, AnnotationBook>): void {
  if (!annotators) return;
  const all = [...books.keys()].flatMap((run) => new AnnotationBook(run).annotators);
  const stranger = annotators.find((name) => !all.includes(name));
  if (stranger === undefined) return;
  const known = [...new Set(all)];
  const there = known.length > 0 ? didYouMean(stranger, known) || `; there are: ${known.join(", ")}` : "";
  throw new UsageError(`Nobody called "${stranger}" has annotated anything here${there}`);
}

/** Of our own records, in their run's folder: elsewhere, lines may have become anything. */
function damageOf(bytes: Buffer, { dataset, run }: InputFile): string | undefined {
  if (!isUtf8(bytes)) return "has bytes that are not UTF-8";
  const examined = run === undefined ? undefined : examineRecord(bytes, { dataset, shared: true });
  return examined === CHANGED || examined === MISNAMED ? examined : undefined;
}

/** For lines of another shape, which a transform may turn into records. */
function emptyRecord(line: unknown, input: InputFile): ExportRecord {
  const known = line as { id?: unknown } | null;
  const record = readRecord(
    { id: known?.id, messages: [{ role: "user", content: "" }] },
    input.dataset,
  ) as ExportRecord;
  return { ...record, messages: [] };
}

/** Paths on this machine are private, and counts are published with a dataset. */
function shortly({ file, line }: Location): string {
  return formatLocation({ file: basename(file), line });
}

function lineText(bytes: Buffer): string {
  return bytes.toString("utf8").replace(/^\ufeff/, "");
}

/** The value, or undefined if the line is no JSON. */
function parseLine(text: string): unknown {
  try {
    const line: unknown = JSON.parse(text);
    return isObject(line) && holdsValues(line) ? withExactParts(line, text) : line;
  } catch {
    return undefined;
  }
}

type MaybeCalling = { tool_calls?: { function?: { arguments?: unknown } }[] } | null;

/** Whether tools or arguments are values here: in our own records, tools are elsewhere and arguments are texts. */
function holdsValues({ tools, messages }: Record<string, unknown>): boolean {
  if (Array.isArray(tools)) return true;
  if (!Array.isArray(messages)) return false;
  for (const message of messages as MaybeCalling[]) {
    const calls = message?.tool_calls;
    if (!Array.isArray(calls)) continue;
    for (const call of calls) if (typeof call?.function?.arguments === "object") return true;
  }
  return false;
}

/** Tools and messages keep their numbers' texts; scores and other numbers of a line are ordinary ones. */
function withExactParts(line: Record<string, unknown>, text: string): Record<string, unknown> {
  const { tools, messages } = withExactNumbers(line, text);
  return { ...line, tools, messages };
}
