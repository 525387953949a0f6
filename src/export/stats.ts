// What a collection of records is like: counts, lengths, tools and arguments, repeats. Kept per record: a few numbers
// and a hash.
import { isObject, type JsonObject, mean } from "../core/index.ts";
import { isScored, isScripted, isSolved } from "./choose.ts";
import { Duplicates } from "./dedupe.ts";
import type { ExportRecord } from "./record.ts";
import { Source, type SourceOptions } from "./source.ts";
import { createTokenCounter } from "./tokens.ts";
import { parseArguments } from "./training-dialogue.ts";

export type Distribution = { mean: number; min: number; median: number; p95: number; max: number };
type ToolUse = {
  calls: number;
  malformed: number;
  /** records that offer it */
  offered: number;
  /** for each parameter: in how many calls it was given */
  arguments: { [parameter: string]: number };
};
export type Stats = {
  records: number;
  unreadable: { [reason: string]: number };
  queries: number;
  datasets: { [name: string]: number };
  /** came to a regular end */
  success: number;
  scored: number;
  solved: number;
  mean_score: number | undefined;
  scripted: number;
  stop_reasons: { [reason: string]: number };
  models: { [name: string]: number };
  duplicates: number;
  tokens: Distribution | undefined;
  turns: Distribution | undefined;
  messages: Distribution | undefined;
  calls: Distribution | undefined;
  tools: { [name: string]: ToolUse };
  never_used: string[];
  /** parameters of used tools that no call gave */
  never_given: string[];
};

export async function collectStats(options: SourceOptions & { tokenizer?: string }): Promise<Stats> {
  const source = await Source.open(options);
  const countTokens = await createTokenCounter(options.tokenizer ?? "o200k_base");
  const duplicates = new Duplicates();
  const queries = new Set<string>();
  const tools = new Map<string, ToolUse>();
  const [unreadable, datasets, stopReasons, models] = [new Tally(), new Tally(), new Tally(), new Tally()];
  const tokens: number[] = [];
  const turns: number[] = [];
  const messages: number[] = [];
  const calls: number[] = [];
  const scores: number[] = [];
  const sum = { records: 0, success: 0, solved: 0, scripted: 0, duplicates: 0 };
  try {
    for await (const item of source.read()) {
      if ("reason" in item) {
        unreadable.add(item.reason);
        continue;
      }
      const { record } = item;
      sum.records++;
      sum.success += record.success ? 1 : 0;
      sum.scripted += isScripted(record) ? 1 : 0;
      sum.duplicates += duplicates.has(record) ? 1 : 0;
      queries.add(`${record.dataset}\n${record.query_id}`);
      datasets.add(record.dataset);
      stopReasons.add(record.metadata.stop_reason ?? "unknown");
      models.add(record.metadata.models?.agent ?? "unknown");
      if (isScored(record)) scores.push(record.score as number);
      sum.solved += isScored(record) && isSolved(record) ? 1 : 0;
      tokens.push(countTokens(record));
      turns.push(record.metadata.total_turns ?? record.messages.filter(({ role }) => role === "user").length);
      messages.push(record.messages.length);
      calls.push(countCalls(record, tools));
    }
  } finally {
    source.close();
  }
  const used = [...tools].filter(([, use]) => use.calls > 0);
  return {
    ...sum,
    unreadable: unreadable.report(),
    queries: queries.size,
    datasets: datasets.report(),
    scored: scores.length,
    mean_score: mean(scores) ?? undefined,
    stop_reasons: stopReasons.report(),
    models: models.report(),
    tokens: spread(tokens),
    turns: spread(turns),
    messages: spread(messages),
    calls: spread(calls),
    tools: Object.fromEntries([...tools].sort(([a, x], [b, y]) => y.calls - x.calls || (a < b ? -1 : 1))),
    never_used: [...tools].filter(([, use]) => use.calls === 0).map(([name]) => name),
    never_given: used.flatMap(([name, use]) =>
      Object.entries(use.arguments).flatMap(([parameter, given]) => (given === 0 ? [`${name}.${parameter}`] : [])),
    ),
  };
}

function countCalls({ messages, tools: offered }: ExportRecord, tools: Map<string, ToolUse>): number {
  for (const tool of offered ?? []) {
    const { name, parameters } = (isObject(tool.function) ? tool.function : tool) as JsonObject;
    const use = useOf(tools, String(name));
    use.offered++;
    if (!isObject(parameters) || !isObject(parameters.properties)) continue;
    for (const parameter of Object.keys(parameters.properties)) use.arguments[parameter] ??= 0;
  }
  let count = 0;
  for (const message of messages) {
    if (message.role !== "assistant") continue;
    for (const { function: call } of message.tool_calls ?? []) {
      const use = useOf(tools, call.name);
      const given = parseArguments(call.arguments);
      count++;
      use.calls++;
      if (!given) use.malformed++;
      for (const parameter of Object.keys(given ?? {})) use.arguments[parameter] = (use.arguments[parameter] ?? 0) + 1;
    }
  }
  return count;
}

function useOf(tools: Map<string, ToolUse>, name: string): ToolUse {
  const use = tools.get(name) ?? { calls: 0, malformed: 0, offered: 0, arguments: Object.create(null) };
  tools.set(name, use);
  return use;
}

class Tally {
  readonly #counts = new Map<string, number>();
  add(name: string): void {
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1);
  }
  report(): { [name: string]: number } {
    return Object.fromEntries([...this.#counts].sort(([, a], [, b]) => b - a));
  }
}

function spread(numbers: number[]): Distribution | undefined {
  if (numbers.length === 0) return undefined;
  const sorted = numbers.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] as number;
  return { mean: mean(numbers) ?? 0, min: at(0), median: at(0.5), p95: at(0.95), max: at(1) };
}
