// Several runs side by side, on the queries that all of them have: only there can they be compared.
import { mean } from "../../core/index.ts";
import { differenceInterval, type Interval } from "../intervals.ts";
import { type Numbers, numbersOf } from "../numbers.ts";
import type { QueryReport, Report } from "./report.ts";

type ChangedQuery = {
  dataset: string;
  query: string;
  /** success rates, one for each run */
  rates: (number | null)[];
  outcomes: QueryReport["outcome"][];
};

/** Of a run's success rates from those of the first run, query by query. */
export type Difference = {
  mean: number;
  interval: Interval | null;
  better: number;
  worse: number;
  ties: number;
  /** in words, for quoting it */
  words: string;
};

export type Comparison = {
  shared_queries: number;
  /** queries that some of the runs do not have */
  left_out: number;
  /** `difference` is null for the first run, and for one that has no scored query in common with it */
  runs: { folder: string; agents: string[]; overall: Numbers; difference: Difference | null }[];
  /** those whose success rate differs between runs, the largest change first */
  changed: ChangedQuery[];
};

export function compareReports(reports: readonly Report[]): Comparison {
  const lists = reports.map(
    ({ datasets }) =>
      new Map(
        Object.entries(datasets).flatMap(([dataset, { queries }]) =>
          Object.entries(queries).map(([query, numbers]) => [JSON.stringify([dataset, query]), numbers] as const),
        ),
      ),
  );
  const keys = [...new Set(lists.flatMap((list) => [...list.keys()]))];
  const shared = keys.filter((key) => lists.every((list) => list.has(key)));
  const changed = shared.flatMap((key): ChangedQuery[] => {
    const numbers = lists.map((list) => list.get(key) as QueryReport);
    const rates = numbers.map(({ success_rate }) => success_rate);
    if (rates.every((rate) => rate === rates[0])) return [];
    const [dataset, query] = JSON.parse(key) as [string, string];
    return [{ dataset, query, rates, outcomes: numbers.map(({ outcome }) => outcome) }];
  });
  const subtractFirst = (index: number) =>
    shared.flatMap((key) => {
      const [first, own] = [lists[0], lists[index]].map((list) => list?.get(key)?.success_rate);
      return first == null || own == null ? [] : [own - first];
    });
  return {
    shared_queries: shared.length,
    left_out: keys.length - shared.length,
    runs: reports.map(({ folder, agents }, index) => ({
      folder,
      agents,
      overall: numbersOf(
        shared.map((key) => {
          const { rollouts, scored, passed, avg_at_n } = (lists[index] as (typeof lists)[number]).get(
            key,
          ) as QueryReport;
          return { rollouts, scored, passed, score: (avg_at_n ?? 0) * scored };
        }),
      ),
      difference: index === 0 ? null : describeDifference(subtractFirst(index), `run ${index + 1} − run 1`),
    })),
    changed: changed.sort((a, b) => spread(b) - spread(a)),
  };
}

/** `label`: of which runs it is. Null if there are no queries. */
export function describeDifference(differences: readonly number[], label: string): Difference | null {
  const average = mean(differences);
  if (average === null) return null;
  const interval = differenceInterval(differences) ?? null;
  const better = differences.filter((difference) => difference > 0).length;
  const worse = differences.filter((difference) => difference < 0).length;
  const range = interval ? `95 % ${points(interval.low)} to ${points(interval.high)}` : "no interval";
  const queries = differences.length === 1 ? "1 shared query" : `${differences.length} shared queries`;
  return {
    mean: average,
    interval,
    better,
    worse,
    ties: differences.length - better - worse,
    words: `${label}: ${points(average)} points (${range}), ${queries}, better on ${better}, worse on ${worse}`,
  };
}

function points(share: number): string {
  const rounded = Math.round(share * 1000) / 10;
  return `${rounded < 0 ? "−" : "+"}${Math.abs(rounded).toFixed(1)}`;
}

function spread({ rates }: ChangedQuery): number {
  const known = rates.flatMap((rate) => rate ?? []);
  return known.length < 2 ? 0 : Math.max(...known) - Math.min(...known);
}
