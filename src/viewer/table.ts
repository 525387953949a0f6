// The table of rollouts: which rows a view asks for, in which order. Everything that a view can ask is in its address.
import type { IndexedRow } from "./run-index.ts";

/** A column that rows can be sorted by; the page shows them in this order. */
export const COLUMNS = [
  ...(["id", "dataset", "stop", "verdict", "score", "blame", "turns", "calls", "errors"] as const),
  ...(["tokens", "cost", "seconds", "ended", "annotation"] as const),
] as const;
export type Column = (typeof COLUMNS)[number];

export type TableQuery = {
  /** members that must agree: one of the values of each */
  where: { [member: string]: readonly string[] };
  /** numbers by column: at least, and below */
  within: { [column: string]: { from?: number; below?: number } };
  /** rows whose id holds this */
  id?: string;
  sort: Column;
  descending: boolean;
  offset: number;
  limit: number;
};

/** What an address asks for; what it does not understand is left out. */
export function readTableQuery(params: URLSearchParams): TableQuery {
  const query: TableQuery = { where: {}, within: {}, sort: "ended", descending: true, offset: 0, limit: 100 };
  for (const [name, value] of params) {
    const [column = "", bound] = name.split(".");
    const number = Number(value);
    if (Object.hasOwn(FACETS, name)) query.where[name] = [...(query.where[name] ?? []), value];
    else if ((bound === "from" || bound === "below") && isColumn(column) && Number.isFinite(number))
      query.within[column] = { ...query.within[column], [bound]: number };
    else if (name === "id") query.id = value;
    else if (name === "sort" && isColumn(value)) query.sort = value;
    else if (name === "order") query.descending = value !== "up";
    else if (name === "offset" || name === "limit") query[name] = Math.min(Math.max(0, Math.floor(number) || 0), 1e9);
  }
  return { ...query, limit: Math.min(query.limit, 1000) };
}

function isColumn(name: string): name is Column {
  return (COLUMNS as readonly string[]).includes(name);
}

type Read = (row: IndexedRow) => string | readonly string[];

/** What rows can be filtered by, and how many have each value: the page offers them. */
export const FACETS: { [member: string]: Read } = {
  dataset: (row) => row.dataset,
  stop: (row) => row.stopReason,
  ended: (row) => (row.ended ? "yes" : "no"),
  verdict: (row) => row.verdict,
  failed: (row) => row.failedChecks,
  blame: (row) => row.blame,
  fault: (row) => row.faults,
  tool: (row) => row.tools,
  annotation: (row) => row.annotation,
  tag: (row) => row.tags,
  judge: (row) => row.judges,
};

const SORT_KEYS: { [column in Column]: (row: IndexedRow) => string | number } = {
  id: (row) => row.id,
  dataset: (row) => row.dataset,
  stop: (row) => row.stopReason,
  verdict: (row) => row.verdict,
  score: (row) => row.score ?? -1,
  blame: (row) => row.blame,
  turns: (row) => row.turns,
  calls: (row) => row.toolCalls,
  errors: (row) => row.toolErrors,
  tokens: (row) => row.tokens,
  cost: (row) => row.costUsd ?? -1,
  seconds: (row) => row.seconds,
  ended: (row) => row.endedAt,
  annotation: (row) => row.annotation,
};

export function chooseRows(rows: readonly IndexedRow[], query: TableQuery): IndexedRow[] {
  const tests = Object.entries(query.where).flatMap(([member, values]) => {
    const read = FACETS[member];
    if (!read || values.length === 0) return [];
    const wanted = new Set(values);
    return [(row: IndexedRow) => [read(row)].flat().some((value) => wanted.has(value))];
  });
  for (const [column, { from = Number.NEGATIVE_INFINITY, below = Number.POSITIVE_INFINITY }] of Object.entries(
    query.within,
  )) {
    const read = SORT_KEYS[column as Column];
    if (read) tests.push((row) => Number(read(row)) >= from && Number(read(row)) < below);
  }
  const { id } = query;
  if (id) tests.push((row) => row.id.includes(id));
  const chosen = tests.length === 0 ? [...rows] : rows.filter((row) => tests.every((test) => test(row)));
  return sortRows(chosen, query.sort, query.descending);
}

/** By the column, then by id: the same view has the same order every time. */
function sortRows(rows: IndexedRow[], column: Column, descending: boolean): IndexedRow[] {
  const key = SORT_KEYS[column];
  const sign = descending ? -1 : 1;
  const keyed = rows.map((row) => ({ row, key: key(row) }));
  keyed.sort((a, b) => (a.key < b.key ? -sign : a.key > b.key ? sign : compareIds(a.row, b.row)));
  return keyed.map(({ row }) => row);
}

function compareIds(a: IndexedRow, b: IndexedRow): number {
  if (a.queryId !== b.queryId) return a.queryId < b.queryId ? -1 : 1;
  return a.rollout - b.rollout;
}

/** How many of the rows have each value of each facet. */
export function countFacets(rows: readonly IndexedRow[]): { [member: string]: { [value: string]: number } } {
  const counts = Object.entries(FACETS).map(([member, read]) => {
    const values = new Map<string, number>();
    for (const row of rows) for (const value of [read(row)].flat()) values.set(value, (values.get(value) ?? 0) + 1);
    values.delete("");
    return [member, Object.fromEntries([...values].sort(([, a], [, b]) => b - a))];
  });
  return Object.fromEntries(counts);
}
