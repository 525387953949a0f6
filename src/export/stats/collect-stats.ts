// What a collection of records is like: counts, lengths, tools and arguments, repeats. Kept per record: a few numbers and
// hashes.
import { mean, sum } from "../../core/index.ts";
import { type Interval, shareInterval } from "../../scoring/index.ts";
import { isScored, isScripted, isSolved } from "../choose.ts";
import { Duplicates } from "../dedupe.ts";
import type { ExportRecord } from "../record.ts";
import { Source, type SourceOptions } from "../source.ts";
import { RecordTemplateCheck, type TemplateOptions } from "../template-rows.ts";
import type { TemplateSummary } from "../templates/report.ts";
import { createKindCounter, TOKEN_KINDS, type TokenKinds, totalTokens } from "../tokens.ts";
import { longestChain } from "./chains.ts";
import { detectRecordLanguage } from "./language.ts";
import { type NearDuplicateReport, NearDuplicates } from "./near-duplicates.ts";
import { type Distribution, histogram, type Share, shareOf, spread, Tally } from "./spread.ts";
import { countSteps } from "./steps.ts";
import { type ToolReport, ToolUses } from "./tool-uses.ts";

/** What has a number in each record; a turn is a user message that the agent answers, a step one agent reply. */
const LENGTHS = ["turns", "steps", "messages", "calls", "tools_offered", "chains"] as const;
type Length = (typeof LENGTHS)[number];
type TokenKind = keyof TokenKinds | "trainable";

export type DatasetStats = {
  records: number;
  scored: number;
  solved: number;
  /** solved of scored; its 95 % interval, queries being clusters */
  solved_rate: number | undefined;
  interval: Interval | undefined;
};

export type Stats = ToolReport & { [length in Length]: Distribution | undefined } & {
  records: number;
  unreadable: { [reason: string]: number };
  queries: number;
  /** records of each */
  datasets: { [name: string]: number };
  by_dataset: { [name: string]: DatasetStats };
  /** came to a regular end */
  success: number;
  scored: number;
  solved: number;
  mean_score: number | undefined;
  scripted: number;
  stop_reasons: { [reason: string]: number };
  models: { [name: string]: number };
  /** of the user's words */
  languages: { [code: string]: number };
  duplicates: number;
  near_duplicates: NearDuplicateReport;
  tokenizer: string;
  /** all of a record's tokens, with what templates put around each message */
  tokens: Distribution | undefined;
  /** trainable: the agent's text, reasoning and calls */
  tokens_by_kind: { [kind in TokenKind]: { total: number; spread: Distribution | undefined } };
  /** records and steps with several calls at once */
  parallel_records: Share;
  parallel_steps: Share;
  /** turns that took more than one step */
  multi_step_turns: Share;
  /** what a chat template makes of them, one row for each turn, if one was given */
  template?: TemplateSummary;
  /** how many records have each length */
  histograms: { [length in Length]: { [value: string]: number } };
};

export async function collectStats(options: SourceOptions & TemplateOptions & { tokenizer?: string }): Promise<Stats> {
  const tokenizer = options.tokenizer ?? "o200k_base";
  const collected = new Collected(tokenizer, await createKindCounter(tokenizer));
  const { template: given, hubFolders } = options;
  const template = given === undefined ? undefined : new RecordTemplateCheck(given, hubFolders);
  const source = await Source.open(options);
  try {
    for await (const item of source.read()) {
      if ("reason" in item) collected.unreadable.add(item.reason);
      else {
        collected.see(item.record);
        template?.see(item.record);
      }
    }
  } finally {
    source.close();
  }
  return { ...collected.report(), ...(template && { template: template.report() }) };
}

type QueryTally = { records: number; total: number; count: number };

class Collected {
  readonly unreadable = new Tally();
  readonly #tokenizer: string;
  readonly #countKinds: (record: ExportRecord) => TokenKinds;
  readonly #tallies = { stop_reasons: new Tally(), models: new Tally(), languages: new Tally() };
  readonly #duplicates = new Duplicates();
  readonly #nearDuplicates = new NearDuplicates();
  readonly #tools = new ToolUses();
  /** solved (`total`) and scored (`count`) records of each query of each dataset */
  readonly #datasets = new Map<string, Map<string, QueryTally>>();
  readonly #numbers = new Map<Length | TokenKind | "tokens", number[]>();
  readonly #scores: number[] = [];
  readonly #sum = { records: 0, success: 0, solved: 0, scripted: 0, duplicates: 0 };
  readonly #shape = { turns: 0, multiStepTurns: 0, steps: 0, parallelSteps: 0, parallelRecords: 0 };

  constructor(tokenizer: string, countKinds: (record: ExportRecord) => TokenKinds) {
    this.#tokenizer = tokenizer;
    this.#countKinds = countKinds;
  }

  see(record: ExportRecord): void {
    const { metadata, messages } = record;
    this.#sum.records++;
    this.#sum.success += record.success ? 1 : 0;
    this.#sum.scripted += isScripted(record) ? 1 : 0;
    this.#sum.duplicates += this.#duplicates.has(record) ? 1 : 0;
    this.#nearDuplicates.see(record);
    this.#tallies.stop_reasons.add(metadata.stop_reason ?? "unknown");
    this.#tallies.models.add(metadata.models?.agent ?? "unknown");
    this.#tallies.languages.add(detectRecordLanguage(record));
    this.#seeScore(record);
    this.#seeTokens(record);
    const steps = countSteps(messages);
    this.#shape.turns += steps.turns;
    this.#shape.multiStepTurns += steps.multiStepTurns;
    this.#shape.steps += steps.steps;
    this.#shape.parallelSteps += steps.parallelSteps;
    this.#shape.parallelRecords += steps.parallelSteps > 0 ? 1 : 0;
    const { total_turns: turns = -1 } = metadata;
    // a line from elsewhere may hold anything there
    this.#note("turns", Number.isInteger(turns) && turns >= 0 && turns <= messages.length ? turns : steps.turns);
    this.#note("steps", steps.steps);
    this.#note("messages", messages.length);
    this.#note("calls", this.#tools.see(record));
    if (record.tools) this.#note("tools_offered", record.tools.length);
    this.#note("chains", longestChain(record.system, messages));
  }

  report(): Stats {
    const shape = this.#shape;
    const byLength = <T>(read: (numbers: number[]) => T) =>
      Object.fromEntries(LENGTHS.map((name) => [name, read(this.#numbers.get(name) ?? [])])) as { [name in Length]: T };
    const kinds = [...TOKEN_KINDS, "trainable" as const].map((kind) => {
      const numbers = this.#numbers.get(kind) ?? [];
      return [kind, { total: sum(numbers), spread: spread(numbers) }];
    });
    const datasets = [...this.#datasets].map(([name, queries]) => [name, describeDataset(queries)] as const);
    return {
      ...this.#sum,
      unreadable: this.unreadable.report(),
      queries: sum([...this.#datasets.values()].map((queries) => queries.size)),
      datasets: Object.fromEntries(datasets.map(([name, { records }]) => [name, records])),
      by_dataset: Object.fromEntries(datasets),
      scored: this.#scores.length,
      mean_score: mean(this.#scores) ?? undefined,
      stop_reasons: this.#tallies.stop_reasons.report(),
      models: this.#tallies.models.report(),
      languages: this.#tallies.languages.report(),
      near_duplicates: this.#nearDuplicates.report(),
      tokenizer: this.#tokenizer,
      tokens: spread(this.#numbers.get("tokens") ?? []),
      tokens_by_kind: Object.fromEntries(kinds),
      ...byLength(spread),
      parallel_records: shareOf(shape.parallelRecords, this.#sum.records),
      parallel_steps: shareOf(shape.parallelSteps, shape.steps),
      multi_step_turns: shareOf(shape.multiStepTurns, shape.turns),
      ...this.#tools.report(),
      histograms: byLength(histogram),
    };
  }

  #seeScore(record: ExportRecord): void {
    const queries = this.#datasets.get(record.dataset) ?? new Map<string, QueryTally>();
    this.#datasets.set(record.dataset, queries);
    const query = queries.get(record.query_id) ?? { records: 0, total: 0, count: 0 };
    queries.set(record.query_id, query);
    query.records++;
    if (!isScored(record)) return;
    this.#scores.push(record.score as number);
    query.count++;
    if (!isSolved(record)) return;
    this.#sum.solved++;
    query.total++;
  }

  #seeTokens(record: ExportRecord): void {
    const kinds = this.#countKinds(record);
    for (const kind of TOKEN_KINDS) this.#note(kind, kinds[kind]);
    this.#note("trainable", kinds.agent_text + kinds.agent_reasoning + kinds.agent_calls);
    this.#note("tokens", totalTokens(record, kinds));
  }

  #note(name: Length | TokenKind | "tokens", number: number): void {
    const numbers = this.#numbers.get(name);
    if (numbers) numbers.push(number);
    else this.#numbers.set(name, [number]);
  }
}

function describeDataset(queries: Map<string, QueryTally>): DatasetStats {
  const tallies = [...queries.values()];
  const [scored, solved] = [sum(tallies.map(({ count }) => count)), sum(tallies.map(({ total }) => total))];
  return {
    records: sum(tallies.map(({ records }) => records)),
    scored,
    solved,
    solved_rate: scored === 0 ? undefined : solved / scored,
    interval: shareInterval(tallies),
  };
}
