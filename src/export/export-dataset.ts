// From trajectories to what a trainer loads. Records stream through; an index of where they are is kept only if
// rollouts must be compared or reordered. Nothing is put in place unless everything was written and the counts add up.
import { basename, resolve } from "node:path";
import { UsageError } from "../core/index.ts";
import { CardFacts, cardText } from "./card.ts";
import { type Choice, createFilter, isScored, isScripted, UNSCORED } from "./choose.ts";
import { Counts, type CountsReport } from "./counts.ts";
import { DUPLICATE, Duplicates } from "./dedupe.ts";
import type { Written } from "./formats/format.ts";
import type { InputFile } from "./inputs.ts";
import { type Indexed, type Order, orderIndex } from "./order.ts";
import { chooseFiles, Output, type OutputFiles } from "./output.ts";
import { type Candidate, makePairs } from "./pairs.ts";
import type { ExportRecord } from "./record.ts";
import { RowMaker, type RowOptions, type RowPosition } from "./row-maker.ts";
import { createSecretFinder, type SecretFinder } from "./secrets.ts";
import { type LineSource, type Located, Source, type SourceOptions } from "./source.ts";
import { type Split, sideOf } from "./split.ts";
import { createTokenCounter } from "./tokens.ts";

export type ExportOptions = SourceOptions &
  Choice &
  Order &
  RowOptions & {
    /** a file, or a folder if there is a split */
    out: string;
    tokenizer?: string;
    dedupe?: boolean;
    split?: Split;
    allowSecrets?: boolean;
    /** values of keys that must not leave */
    secrets?: readonly string[];
    license?: string;
    /** @deprecated the old name of `ended` */
    successOnly?: boolean;
  };

export type ExportResult = { files: string[]; counts: CountsReport };

export async function exportDataset({ successOnly, ...given }: ExportOptions): Promise<ExportResult> {
  const options = { ...given, ended: given.ended ?? successOnly };
  const rows = new RowMaker(options);
  const plan = chooseFiles(options.out, rows.container, options.split?.map(({ name }) => name) ?? ["train"]);
  const chooser = await createChooser(options);
  const source = await Source.open(options);
  try {
    refuseToReplace(source, plan);
    const output = new Output(
      plan,
      rows.container,
      options.transform ? { ...rows.columns, extra: "json" } : rows.columns,
    );
    try {
      return await new Export({ options, rows, plan, source, chooser, output }).run();
    } catch (error) {
      output.abandon();
      throw error;
    }
  } finally {
    source.close();
  }
}

type Parts = {
  options: ExportOptions;
  rows: RowMaker;
  plan: OutputFiles;
  source: Source;
  /** why a record is left out, or undefined */
  chooser: (record: ExportRecord) => string | undefined;
  output: Output;
};

class Export {
  readonly #parts: Parts;
  readonly #counts = new Counts();
  readonly #facts = new CardFacts();
  /** run folders and lone files of which no record so far has a score, and the others */
  readonly #unscored = new Map<string, InputFile>();
  readonly #scored = new Set<string>();
  readonly #secrets: SecretFinder | undefined;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#secrets = parts.options.allowSecrets ? undefined : createSecretFinder(parts.options.secrets);
  }

  async run(): Promise<ExportResult> {
    const { bestOf, perQuery, shuffle, pairs } = this.#parts.options;
    if (bestOf || perQuery !== undefined || shuffle !== undefined || pairs === "preference") await this.#writeIndexed();
    else for await (const { record, source } of this.#chosen()) this.#write(record, source);
    return this.#finish();
  }

  async *#chosen(): AsyncGenerator<Located> {
    for await (const item of this.#parts.source.read()) {
      this.#counts.in++;
      if ("record" in item) this.#lookForScore(item);
      const reason = "reason" in item ? item.reason : this.#parts.chooser(item.record);
      if (reason) this.#counts.leaveOut(reason);
      else yield item as Located;
    }
  }

  async #writeIndexed(): Promise<void> {
    const { options, source } = this.#parts;
    const index: Indexed[] = [];
    for await (const { record, source: from } of this.#chosen()) {
      const { query_id, dataset, rollout, score, id } = record;
      if (!isScored(record) && (options.bestOf || options.pairs)) this.#counts.leaveOut(UNSCORED);
      else index.push({ source: from, query: `${dataset}\n${query_id}`, rollout, score: score ?? 0, id });
    }
    const { kept, leftOut } = orderIndex(index, options);
    for (const reason of leftOut) this.#counts.leaveOut(reason);
    if (options.pairs === "preference") await this.#writePairs(kept);
    else for (const { source: from } of kept) this.#write(await source.readAgain(from), from);
  }

  async #writePairs(kept: Indexed[]): Promise<void> {
    const groups = new Map<string, Indexed[]>();
    for (const item of kept) {
      const group = groups.get(item.query);
      if (group) group.push(item);
      else groups.set(item.query, [item]);
    }
    for (const group of groups.values()) {
      const candidates: Candidate[] = [];
      for (const { source } of group) {
        const record = await this.#parts.source.readAgain(source);
        const dialogue = this.#parts.rows.candidate(record);
        this.#stopAtSecret(record, source);
        if (typeof dialogue === "string") this.#counts.leaveOut(dialogue);
        else candidates.push({ record, dialogue });
      }
      const { pairs, unpaired } = makePairs(candidates);
      for (const reason of unpaired) this.#counts.leaveOut(reason);
      for (const pair of pairs) {
        const position = this.#positionOf(pair.records.chosen);
        this.#put(this.#parts.rows.writePair(pair, position), position.split, Object.values(pair.records));
      }
    }
  }

  #write(record: ExportRecord, from: LineSource): void {
    const position = this.#positionOf(record);
    const written = this.#parts.rows.write(record, position);
    if ("row" in written) this.#stopAtSecret(record, from);
    this.#put(written, position.split, [record]);
  }

  #put(written: Written, split: string, records: ExportRecord[]): void {
    if ("reason" in written) {
      this.#counts.leaveOut(written.reason, records.length);
      return;
    }
    this.#parts.output.writerOf(split).write(this.#withExtra(written.row, records));
    this.#counts.write(split, records.length);
    for (const note of written.notes ?? []) this.#counts.note(note);
    for (const record of records) this.#see(record);
  }

  #withExtra(row: { [column: string]: unknown }, records: ExportRecord[]): { [column: string]: unknown } {
    if (!this.#parts.options.transform) return row;
    const extra = Object.assign({}, ...records.map((record) => record.extra));
    return this.#parts.rows.container === "parquet" ? { ...row, extra } : { ...row, ...extra };
  }

  #see(record: ExportRecord): void {
    this.#facts.see(record, isScripted(record));
    if (record.system === undefined) this.#counts.note(UNKNOWN_SYSTEM);
    if (!record.tools) this.#counts.note(UNKNOWN_TOOLS);
    const { dropsReasoning } = this.#parts.rows;
    if (dropsReasoning && record.messages.some((message) => message.role === "assistant" && message.reasoning_content))
      this.#counts.note("reasoning dropped");
  }

  #stopAtSecret(record: ExportRecord, { input, number }: LineSource): void {
    if (!this.#secrets) return;
    const { tools, ...rest } = record;
    const kind = this.#secrets.find(rest) ?? (tools && this.#secrets.findShared(tools));
    if (!kind) return;
    const advice = "nothing was written. A transform can take it out; --allow-secrets exports it as it is";
    throw new UsageError(`a text looks like ${kind}: ${advice}`, { file: input.file, line: number });
  }

  #positionOf({ query_id }: ExportRecord): RowPosition {
    const { split: sides } = this.#parts.options;
    const split = sides ? sideOf(sides, query_id) : "train";
    return { split, index: this.#counts.rowsOf(split) };
  }

  #lookForScore({ record, source: { input } }: Located): void {
    const place = input.run ?? input.file;
    if (this.#scored.has(place)) return;
    if (isScored(record) || this.#parts.source.isEvaluated(input)) {
      this.#scored.add(place);
      this.#unscored.delete(place);
    } else this.#unscored.set(place, input);
  }

  /** Otherwise the rows of a run that nobody scored would just be missing. */
  #refuseUnscored(): void {
    const flag = scoreFlag(this.#parts.options);
    if (flag === undefined || this.#unscored.size === 0) return;
    const lines = [...this.#unscored].map(([place, { run }]) => {
      const advice =
        run === undefined ? "Score its run (rollout eval DIR) and export that" : `Run: rollout eval ${run}`;
      return `${place} has no scores, which ${flag} needs. ${advice}`;
    });
    throw new UsageError(`${lines.join("\n")}\nNothing was written.`);
  }

  #finish(): ExportResult {
    this.#refuseUnscored();
    const { options, output, plan, rows } = this.#parts;
    const { license = "unknown", secrets: _secrets, transform, out: _out, ...settings } = options;
    const counts = this.#counts.report();
    output.finish();
    const shown = {
      ...settings,
      // paths on this machine are private
      inputs: options.inputs.map((input) => basename(input)),
      basePath: options.basePath && basename(options.basePath),
      transform: typeof transform === "string" ? basename(transform) : undefined,
      container: rows.container,
    };
    const facts = this.#facts.report();
    const files = [
      ...plan.files.values(),
      output.add("export.json", `${JSON.stringify({ ...counts, ...facts, license, settings: shown }, null, 2)}\n`),
      output.addCard(cardText({ plan, counts, facts, settings: shown, license })),
    ];
    const info = rows.info();
    if (info) {
      const named = [...plan.files].map(([side, file]) => [plan.stem || `rollout_${side}`, basename(file)] as const);
      const entries = named.map(([name, file]) => [name, { file_name: file, ...info }]);
      files.push(output.addInfo(Object.fromEntries(entries)));
    }
    output.publish();
    return { files, counts };
  }
}

const UNKNOWN_SYSTEM = "no system prompt is known (--base-path names the dataset folder)";
const UNKNOWN_TOOLS = "no tools are known (--base-path names the dataset folder)";

/** The flag that asks for scores, if there is one. */
function scoreFlag({ solved, minScore, bestOf, pairs }: ExportOptions): string | undefined {
  if (solved) return "--solved";
  if (minScore !== undefined) return "--min-score";
  if (bestOf) return "--best-of";
  return pairs && "--pairs";
}

async function createChooser(options: ExportOptions): Promise<Parts["chooser"]> {
  const { maxTokens, tokenizer = "o200k_base" } = options;
  const filter = createFilter(options, maxTokens === undefined ? undefined : await createTokenCounter(tokenizer));
  const duplicates = options.dedupe ? new Duplicates() : undefined;
  return (record) => filter(record) ?? (duplicates?.has(record) ? DUPLICATE : undefined);
}

function refuseToReplace(source: Source, plan: OutputFiles): void {
  const written = new Set([...plan.files.values()].map((file) => resolve(file)));
  const clash = source.inputs.find(({ file }) => written.has(resolve(file)));
  if (clash) throw new UsageError(`--out would replace ${clash.file}, which is read`);
}
