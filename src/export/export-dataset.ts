// From trajectories to what a trainer loads. Records stream through; an index of where they are is kept only if
// rollouts must be compared or reordered. Nothing is put in place unless everything was written and the counts add up.
import { readFileSync } from "node:fs";
import { basename, extname, resolve } from "node:path";
import { groupBy, UsageError, type Variables } from "../core/index.ts";
import { CardFacts, cardText } from "./card.ts";
import { type Choice, createFilter, DISAGREE, isScored, isScripted, UNSCORED } from "./choose.ts";
import { Counts, type CountsReport } from "./counts.ts";
import { DUPLICATE, Duplicates } from "./dedupe.ts";
import { GroundTruths, NO_TRUTH } from "./ground-truth.ts";
import type { InputFile } from "./inputs.ts";
import { type Indexed, type Order, orderIndex } from "./order.ts";
import { chooseFiles, Output, type OutputFiles } from "./output.ts";
import { type Candidate, makePairs } from "./pairs.ts";
import type { ExportRecord } from "./record.ts";
import { type Made, type MadeRows, RowMaker, type RowOptions, type RowPosition } from "./row-maker.ts";
import { rowText } from "./row-text.ts";
import { createSecretFinder, type SecretFinder } from "./secrets.ts";
import { type LineSource, type Located, Source, type SourceOptions } from "./source.ts";
import { type Split, sideOf } from "./split.ts";
import { TemplateCheck, type TemplateOptions } from "./template-rows.ts";
import type { TemplateSummary } from "./templates/report.ts";
import { createTextCounter, createTokenCounter } from "./tokens.ts";
import { type TrainedReport, TrainedTokens } from "./trained-tokens.ts";
import type { Unroll } from "./unroll.ts";

export type ExportOptions = SourceOptions &
  Choice &
  Order &
  RowOptions &
  TemplateOptions & {
    /** a file, or a folder if there is a split */
    out: string;
    tokenizer?: string;
    dedupe?: boolean;
    split?: Split;
    allowSecrets?: boolean;
    /** values of keys that must not leave */
    secrets?: readonly string[];
    license?: string;
    /** for tool servers that execute the references of verl-rl */
    env?: Variables;
    /** @deprecated the old name of `ended` */
    successOnly?: boolean;
  };

export type ExportResult = {
  /** none if there are no rows: then nothing is written */
  files: string[];
  counts: CountsReport;
  trained: TrainedReport;
  /** how dialogues became rows */
  unroll: Unroll;
  /** what the trainer must be told */
  advice: string | undefined;
  /** what the chat template makes of the rows, if one was given */
  template: TemplateSummary | undefined;
};

export async function exportDataset({ successOnly, ...given }: ExportOptions): Promise<ExportResult> {
  // every format fits into Parquet; one that is Parquet is read as nothing else
  const container = given.container ?? (extname(given.out) === ".parquet" ? "parquet" : undefined);
  const rows = new RowMaker({ ...given, container });
  const options = {
    ...given,
    container,
    ended: given.ended ?? successOnly,
    forComparison: given.pairs !== undefined || rows.format.oncePerQuery,
  };
  const plan = chooseFiles(options.out, rows.container, options.split?.map(({ name }) => name) ?? ["train"]);
  const { tokenizer = "o200k_base" } = options;
  const template = TemplateCheck.open(rows.format, options);
  const trained = new TrainedTokens(tokenizer, await createTextCounter(tokenizer));
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
      return await new Export({ options, rows, plan, source, chooser, output, trained, template }).run();
    } finally {
      output.abandon();
    }
  } finally {
    source.close();
  }
}

const CHANGED_NOTE = "changed since it was written: its checksum does not match";

type Parts = {
  options: ExportOptions;
  rows: RowMaker;
  plan: OutputFiles;
  source: Source;
  /** why a record is left out, or undefined */
  chooser: (record: ExportRecord) => string | undefined;
  output: Output;
  trained: TrainedTokens;
  template: TemplateCheck | undefined;
};

class Export {
  readonly #parts: Parts;
  readonly #counts = new Counts();
  readonly #facts = new CardFacts();
  /** run folders and lone files of which no record so far has a score, and the others */
  readonly #unscored = new Map<string, InputFile>();
  readonly #scored = new Set<string>();
  readonly #secrets: SecretFinder | undefined;
  /** a transform or a record brought columns of its own */
  #hasOtherColumns = false;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#secrets = parts.options.allowSecrets ? undefined : createSecretFinder(parts.options.secrets);
  }

  async run(): Promise<ExportResult> {
    const { options, rows } = this.#parts;
    const { bestOf, perQuery, shuffle, pairs } = options;
    const compares = bestOf || perQuery !== undefined || pairs === "preference" || rows.format.oncePerQuery;
    if (compares || shuffle !== undefined) await this.#writeIndexed();
    else for await (const { record, source } of this.#chosen()) this.#write(record, source);
    return this.#finish();
  }

  async *#chosen(): AsyncGenerator<Located> {
    for await (const item of this.#parts.source.read()) {
      this.#counts.in++;
      if ("record" in item) this.#lookForScore(item);
      const reason = "reason" in item ? item.reason : this.#parts.chooser(item.record);
      if ("record" in item && item.changed) this.#counts.note(CHANGED_NOTE);
      if (reason) this.#counts.leaveOut(reason);
      else yield item as Located;
    }
  }

  async #writeIndexed(): Promise<void> {
    const { options, source, rows } = this.#parts;
    const index: Indexed[] = [];
    for await (const { record, source: from } of this.#chosen()) {
      const { query_id, dataset, rollout, score, id } = record;
      if (!isScored(record) && (options.bestOf || options.pairs)) this.#counts.leaveOut(UNSCORED);
      else index.push({ source: from, query: `${dataset}\n${query_id}`, rollout, score: score ?? 0, id });
    }
    const { kept, leftOut } = orderIndex(index, options);
    for (const reason of leftOut) this.#counts.leaveOut(reason);
    if (options.pairs === "preference") await this.#writePairs(kept);
    else if (rows.format.oncePerQuery) await this.#writeQueries(kept);
    else for (const { source: from } of kept) this.#write(await source.readAgain(from), from);
  }

  async #writePairs(kept: Indexed[]): Promise<void> {
    for (const group of groupBy(kept, ({ query }) => query).values()) {
      const candidates: Candidate[] = [];
      for (const { source } of group) {
        const record = await this.#parts.source.readAgain(source);
        const dialogue = this.#parts.rows.candidate(record);
        this.#stopAtSecret(record, source);
        if (typeof dialogue === "string") this.#counts.leaveOut(dialogue);
        else candidates.push({ record, dialogue });
      }
      const unpaired = makePairs(candidates, (pair) => {
        const position = this.#positionOf(pair.records.chosen);
        const made = this.#parts.rows.writePair(pair, position);
        if ("reason" in made) return made.reason;
        this.#put({ rows: [made], lost: [] }, position.split, Object.values(pair.records));
        return undefined;
      });
      for (const reason of unpaired) this.#counts.leaveOut(reason);
    }
  }

  /** One row for each query, with its reference or its best rollout as the truth. */
  async #writeQueries(kept: Indexed[]): Promise<void> {
    const truths = new GroundTruths(this.#parts.options);
    try {
      for (const group of groupBy(kept, ({ query }) => query).values()) {
        const [best, ...others] = group.toSorted((a, b) => b.score - a.score || a.rollout - b.rollout) as [Indexed];
        const record = await this.#parts.source.readAgain(best.source);
        const truth = await truths.find(record, best.source.input.run);
        if (!truth) this.#counts.leaveOut(NO_TRUTH, group.length);
        else {
          for (const _ of others) this.#counts.leaveOut("another rollout of its query went out");
          this.#write(record, best.source, truth);
          this.#counts.note(truth.from.startsWith("rollout ") ? TRUTH_OF_ROLLOUT : `ground truth: ${truth.from}`);
        }
      }
    } finally {
      for (const notice of truths.notices) this.#counts.note(notice);
      await truths.close();
    }
  }

  #write(record: ExportRecord, from: LineSource, truth?: Parameters<RowMaker["write"]>[2]): void {
    const position = this.#positionOf(record);
    const made = this.#parts.rows.write(record, position, truth);
    if ("rows" in made) this.#stopAtSecret(record, from);
    this.#put(made, position.split, [record]);
  }

  #put(made: MadeRows, split: string, records: ExportRecord[]): void {
    if ("reason" in made) {
      this.#counts.leaveOut(made.reason, records.length);
      return;
    }
    const rows = made.rows.filter((row) => this.#passesTemplate(row));
    if (rows.length === 0) {
      this.#counts.leaveOut(NOT_RENDERED, records.length);
      return;
    }
    for (const row of rows) this.#putRow(row, split, records);
    this.#counts.write(split, { rows: rows.length, records: records.length });
    for (const note of made.lost) this.#counts.note(note);
    for (let lost = rows.length; lost < made.rows.length; lost++) this.#counts.note(`a row left out: ${NOT_RENDERED}`);
    for (const record of records) this.#see(record);
  }

  /** What a template does not show is reported; with --strict the row stays out. */
  #passesTemplate({ row }: Made): boolean {
    const { template, options } = this.#parts;
    if (!template) return true;
    const problems = template.see(JSON.parse(rowText(row)), String(row.id));
    return !options.strict || problems.length === 0;
  }

  #putRow({ row, notes, learnt }: Made, split: string, records: ExportRecord[]): void {
    const full = this.#withExtra(row, records);
    for (const name in full) this.#hasOtherColumns ||= this.#parts.rows.columns[name] === undefined;
    this.#parts.output.writerOf(split).write(full);
    if (!this.#parts.rows.format.oncePerQuery) this.#parts.trained.see(learnt);
    for (const note of notes) this.#counts.note(note);
  }

  #withExtra(row: { [column: string]: unknown }, records: ExportRecord[]): { [column: string]: unknown } {
    if (!this.#parts.options.transform) return row;
    const extra = Object.assign({}, ...records.map((record) => record.extra));
    return this.#parts.rows.container === "parquet" ? { ...row, extra } : { ...row, ...extra };
  }

  #see(record: ExportRecord): void {
    if (this.#parts.options.annotated && record.annotation?.word === "mixed") this.#counts.note(DISAGREE);
    this.#facts.see(record, isScripted(record));
    if (record.system === undefined) this.#counts.note(UNKNOWN_SYSTEM);
    if (!record.tools) this.#counts.note(UNKNOWN_TOOLS);
    const { dropsReasoning } = this.#parts.rows;
    if (dropsReasoning && record.messages.some((message) => message.role === "assistant" && message.reasoning_content))
      this.#counts.note("reasoning dropped");
    const { other_calls } = record.rest;
    if (!this.#parts.rows.format.canonical && Array.isArray(other_calls) && other_calls.length > 0)
      this.#counts.note("calls of the user and of the setup left out");
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
    const {
      license = "unknown",
      secrets: _secrets,
      env: _env,
      forComparison: _,
      hubFolders: _hub,
      transform,
      out: _out,
      ...settings
    } = options;
    const counts = this.#counts.report();
    const trained = this.#parts.trained.report();
    const { advice, unroll } = rows;
    const template = this.#parts.template?.report();
    if (counts.out === 0) return { files: [], counts, trained, unroll, advice, template };
    output.finish();
    const shown = {
      ...settings,
      // paths on this machine are private
      inputs: options.inputs.map((input) => basename(input)),
      basePath: options.basePath && basename(options.basePath),
      transform: typeof transform === "string" ? basename(transform) : undefined,
      template: options.template && basename(options.template),
      container: rows.container,
      unroll,
    };
    const facts = this.#facts.report();
    const columns = rows.container === "parquet" || this.#hasOtherColumns ? undefined : rows.columns;
    const files = [
      ...plan.files.values(),
      output.add(
        "export.json",
        `${JSON.stringify({ ...counts, trained, advice, template, ...facts, license, settings: shown }, null, 2)}\n`,
      ),
      output.addCard(cardText({ plan, counts, facts, settings: shown, license, trained, advice, columns })),
      ...Object.entries(rows.format.files ?? {}).map(([name, from]) =>
        output.addPlain(name, readFileSync(from, "utf8")),
      ),
    ];
    const info = rows.info();
    if (info) {
      const named = [...plan.files].map(([side, file]) => [plan.stem || `rollout_${side}`, basename(file)] as const);
      const entries = named.map(([name, file]) => [name, { file_name: file, ...info }]);
      files.push(output.addInfo(Object.fromEntries(entries)));
    }
    output.publish();
    return { files, counts, trained, unroll, advice, template };
  }
}

const NOT_RENDERED = "the chat template does not show all of it";
const TRUTH_OF_ROLLOUT = "ground truth: the calls of a rollout, since there is no reference";
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
