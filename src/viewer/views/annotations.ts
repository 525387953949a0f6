// What people said about one rollout, and which one a review comes to next.
import { redactDeep } from "../../core/index.ts";
import type { AnnotationsView, NextView } from "../api.ts";
import type { IndexedRow, RunIndex } from "../run-index.ts";
import type { NamedRun } from "../runs.ts";
import { chooseRows, readTableQuery } from "../table.ts";

const MAX_SUGGESTED = 50;

/** Undefined if the run has no such rollout. */
export function toAnnotationsView({ index }: NamedRun, dataset: string, id: string): AnnotationsView | undefined {
  const row = index.row(dataset, id);
  return row && redactDeep({ annotations: index.annotations.read(row.key), tags: usualTags(index) });
}

/**
 * The next of the rows that the table's address chooses, in the table's order, that `by` has not judged: the first after
 * the one at `dataset`, `id`, then from the start. That one itself may no longer be among the chosen.
 */
export function toNextView({ index }: NamedRun, params: URLSearchParams): NextView {
  const { by, at } = { by: params.get("by") ?? "", at: params.getAll("at") };
  const query = readTableQuery(new URLSearchParams([...params].filter(([name]) => name !== "by" && name !== "at")));
  const chosen = chooseRows(index.rows, query);
  const left = chosen.filter(({ judges }) => !judges.includes(by));
  const next = nextOf(left, index.row(at[0] ?? "", at[1] ?? ""), (rows) =>
    chooseRows(rows, { ...query, where: {}, within: {}, id: undefined }),
  );
  return { next: next && { dataset: next.dataset, id: next.id }, left: left.length, chosen: chosen.length };
}

function nextOf(
  left: IndexedRow[],
  here: IndexedRow | undefined,
  sort: (rows: IndexedRow[]) => IndexedRow[],
): IndexedRow | undefined {
  if (!here) return left[0];
  const sorted = left.includes(here) ? left : sort([...left, here]);
  const at = sorted.indexOf(here);
  const others = [...sorted.slice(at + 1), ...sorted.slice(0, at)];
  return others[0] ?? (left.includes(here) ? here : undefined);
}

function usualTags({ annotations }: RunIndex): string[] {
  const counts = new Map<string, number>();
  for (const remarks of annotations.remarks.values())
    for (const { tags } of remarks) for (const tag of tags) counts.set(tag, (counts.get(tag) ?? 0) + 1);
  return [...counts]
    .sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1))
    .slice(0, MAX_SUGGESTED)
    .map(([tag]) => tag);
}
