// What people said about one rollout, and which one a review comes to next.
import { redactDeep } from "../../core/index.ts";
import { keyText } from "../../runs/index.ts";
import type { AnnotationsView, NextView } from "../api.ts";
import type { IndexedRow } from "../rows.ts";
import type { RunIndex } from "../run-index.ts";
import type { NamedRun } from "../runs.ts";
import { readTableQuery, type TableQuery } from "../table.ts";
import { chooseFor, orderOf } from "./rollouts.ts";

const MAX_SUGGESTED = 50;

/** Undefined if the run has no such rollout. */
export function toAnnotationsView({ index }: NamedRun, dataset: string, id: string): AnnotationsView | undefined {
  const row = index.rowOf(dataset, id);
  return row && redactDeep({ annotations: index.annotations.read(keyText(row)), tags: usualTags(index) });
}

/**
 * The next of the rows that the table's address chooses, in the table's order, that `by` has not judged: the first after
 * the one that `at` names by its dataset and id, then from the start. That one may no longer be among the chosen.
 */
export async function toNextView({ index }: NamedRun, params: URLSearchParams): Promise<NextView> {
  const [by = "", [dataset = "", id = ""]] = [params.get("by") ?? "", params.getAll("at")];
  const query = readTableQuery(new URLSearchParams([...params].filter(([name]) => name !== "by" && name !== "at")));
  const { rows: chosen } = await chooseFor(index, query);
  const left = chosen.filter(({ judges }) => !judges.includes(by));
  const here = index.rowOf(dataset, id);
  const next = here ? nextAfter(here, left, inOrder(index, query)) : left[0];
  return { next: next && { dataset: next.dataset, id: next.id }, left: left.length, chosen: chosen.length };
}

/** Itself only if nothing else is left. */
function nextAfter(here: IndexedRow, left: IndexedRow[], order: Iterable<IndexedRow>): IndexedRow | undefined {
  const wanted = new Set(left);
  let first: IndexedRow | undefined;
  let isPast = false;
  for (const row of order) {
    if (row === here) isPast = true;
    else if (wanted.has(row) && isPast) return row;
    else if (wanted.has(row)) first ??= row;
  }
  return first ?? (wanted.has(here) ? here : undefined);
}

function* inOrder(index: RunIndex, { sort, descending }: TableQuery): Generator<IndexedRow> {
  const order = orderOf(index, sort);
  for (let step = 0; step < order.length; step++)
    yield index.rows[order[descending ? order.length - 1 - step : step] as number] as IndexedRow;
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
