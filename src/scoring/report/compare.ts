// Several runs side by side, on the queries that all of them have: only there can they be compared.
import { type Numbers, numbersOf } from "../numbers.ts";
import type { QueryReport, Report } from "./report.ts";

type ChangedQuery = {
  dataset: string;
  query: string;
  /** success rates, one for each run */
  rates: (number | null)[];
  outcomes: QueryReport["outcome"][];
};

export type Comparison = {
  shared_queries: number;
  /** queries that some of the runs do not have */
  left_out: number;
  runs: { folder: string; agents: string[]; overall: Numbers }[];
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
    })),
    changed: changed.sort((a, b) => spread(b) - spread(a)),
  };
}

function spread({ rates }: ChangedQuery): number {
  const known = rates.flatMap((rate) => rate ?? []);
  return known.length < 2 ? 0 : Math.max(...known) - Math.min(...known);
}
