// A run's queries, worst first: where people look before anything else.
import type { QueryReport, Report } from "./report.ts";

export type RankedQuery = QueryReport & { dataset: string; query: string };

const ORDER = { never: 0, wavers: 1, "not scored": 2, always: 3 };

/** By solved rate, then by mean score, then by how many rollouts say so; unscored ones before those that always pass. */
export function rankQueries({ datasets }: Pick<Report, "datasets">): RankedQuery[] {
  const all = Object.entries(datasets).flatMap(([dataset, { queries }]) =>
    Object.entries(queries).map(([query, report]) => ({ ...report, dataset, query })),
  );
  return all.sort(
    (a, b) =>
      ORDER[a.outcome] - ORDER[b.outcome] ||
      (a.success_rate ?? 0) - (b.success_rate ?? 0) ||
      (a.avg_at_n ?? 0) - (b.avg_at_n ?? 0) ||
      b.scored - a.scored,
  );
}
