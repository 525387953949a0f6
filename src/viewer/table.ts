// The table of rollouts: which rows a view asks for, in which order. Everything that a view can ask is in its address.
import type { IndexedRow } from "./rows.ts";

/** A column that rows can be sorted by; the page shows them in this order. */
const COLUMNS = [
  ...(["id", "dataset", "stop", "verdict", "score", "blame", "turns", "steps", "calls", "errors"] as const),
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
  /** rows whose dialogue holds this */
  text?: string;
  sort: Column;
  descending: boolean;
  offset: number;
  limit: number;
};

const PAGE = 100;

/** What an address asks for; what it does not understand is left out. */
export function readTableQuery(params: URLSearchParams): TableQuery {
  const query: TableQuery = { where: {}, within: {}, sort: "ended", descending: true, offset: 0, limit: PAGE };
  for (const [name, value] of params) {
    const [column = "", bound] = name.split(".");
    const number = Number(value);
    if (Object.hasOwn(FACETS, name)) query.where[name] = [...(query.where[name] ?? []), value];
    else if (isColumn(column) && (bound === "from" || bound === "below") && value !== "" && Number.isFinite(number))
      query.within[column] = { ...query.within[column], [bound]: number };
    else if ((name === "id" || name === "text") && value !== "") query[name] = value;
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

/** What rows can be filtered by, and how many have each value: the page offers them in this order. */
const FACETS: { [member: string]: Read } = {
  dataset: (row) => row.dataset,
  stop: (row) => row.stopReason,
  ended: (row) => (row.ended ? "yes" : "no"),
  verdict: (row) => row.verdict,
  failed: (row) => row.failedChecks,
  passed: (row) => row.passedChecks,
  blame: (row) => row.blame,
  fault: (row) => row.faults,
  tool: (row) => row.tools,
  annotation: (row) => row.annotation,
  tag: (row) => row.tags,
  judge: (row) => row.judges,
};

/** Texts are sorted by their place among all texts of the column. */
const SORT_KEYS: { [column in Column]: (row: IndexedRow) => string | number } = {
  id: (row) => row.queryId,
  dataset: (row) => row.dataset,
  stop: (row) => row.stopReason,
  verdict: (row) => row.verdict,
  score: (row) => row.score ?? -1,
  blame: (row) => row.blame,
  turns: (row) => row.turns,
  steps: (row) => row.steps,
  calls: (row) => row.toolCalls,
  errors: (row) => row.toolErrors,
  tokens: (row) => row.tokens,
  cost: (row) => row.costUsd ?? -1,
  seconds: (row) => row.seconds,
  ended: (row) => row.endedAt,
  annotation: (row) => row.annotation,
};

/** The order of all rows by a column: their numbers. What is equal stays in the order of rollouts, then of the files. */
export function orderRows(rows: readonly IndexedRow[], column: Column): Uint32Array {
  const keys = numbersBy(rows, SORT_KEYS[column]);
  const rollouts = column === "id" ? Float64Array.from(rows, ({ rollout }) => rollout) : keys;
  const order = Uint32Array.from(rows, (_, at) => at);
  return order.sort((a, b) => num(keys, a) - num(keys, b) || num(rollouts, a) - num(rollouts, b) || a - b);
}

const num = (list: Float64Array, at: number) => list[at] as number;

function numbersBy(rows: readonly IndexedRow[], read: (row: IndexedRow) => string | number): Float64Array {
  const ranks = new Map<string, number>();
  for (const row of rows) {
    const value = read(row);
    if (typeof value === "number") break;
    ranks.set(value, 0);
  }
  [...ranks.keys()].sort().forEach((value, rank) => {
    ranks.set(value, rank);
  });
  return Float64Array.from(rows, (row) => {
    const value = read(row);
    return typeof value === "number" ? value : (ranks.get(value) ?? 0);
  });
}

export type Chosen = {
  rows: IndexedRow[];
  /** how many rows have each value of each facet, among those that the other filters leave */
  facets: { [member: string]: { [value: string]: number } };
};

/** `isFound`: whether the text that is searched for is in a row's dialogue, by the row's number. */
export function chooseRows(
  rows: readonly IndexedRow[],
  query: TableQuery,
  order: Uint32Array,
  isFound?: (at: number) => boolean,
): Chosen {
  const members = Object.keys(FACETS);
  const counts = members.map(() => new Map<string | readonly string[], number>());
  const facetTests = members.map((member) => testOf(FACETS[member] as Read, query.where[member] ?? []));
  const others = rangeTests(query);
  const { length } = order;
  const chosen: IndexedRow[] = [];
  for (let step = 0; step < length; step++) {
    const at = order[query.descending ? length - 1 - step : step] as number;
    const row = rows[at] as IndexedRow;
    if ((isFound && !isFound(at)) || others.some((test) => !test(row))) continue;
    let failed = -1; // the only facet that it does not pass: there it counts still
    let failures = 0;
    for (let member = 0; member < members.length && failures < 2; member++) {
      if (facetTests[member]?.(row) ?? true) continue;
      failed = member;
      failures++;
    }
    if (failures === 0) chosen.push(row);
    if (failures > 1) continue;
    for (let member = 0; member < members.length; member++)
      if (failures === 0 || failed === member)
        increase(counts[member] as Map<unknown, number>, (FACETS[members[member] as string] as Read)(row));
  }
  return { rows: chosen, facets: Object.fromEntries(members.map((name, at) => [name, spreadOut(counts[at])])) };
}

type Test = (row: IndexedRow) => boolean;

function testOf(read: Read, values: readonly string[]): Test | undefined {
  if (values.length === 0) return undefined;
  const wanted = new Set(values);
  return (row) => {
    const value = read(row);
    return typeof value === "string" ? wanted.has(value) : value.some((one) => wanted.has(one));
  };
}

function rangeTests({ within, id }: TableQuery): Test[] {
  const tests = Object.entries(within).map(([column, { from = -Infinity, below = Infinity }]): Test => {
    const read = SORT_KEYS[column as Column];
    return (row) => Number(read(row)) >= from && Number(read(row)) < below;
  });
  return id ? [...tests, (row) => row.id.includes(id)] : tests;
}

function increase(counts: Map<unknown, number>, value: unknown): void {
  counts.set(value, (counts.get(value) ?? 0) + 1);
}

/** Equal lists are the same object, so few are spread out; the most frequent first. */
function spreadOut(counts: Map<string | readonly string[], number> | undefined): { [value: string]: number } {
  const values = new Map<string, number>();
  for (const [value, count] of counts ?? [])
    for (const one of typeof value === "string" ? [value] : value) values.set(one, (values.get(one) ?? 0) + count);
  values.delete("");
  return Object.fromEntries([...values].sort(([, a], [, b]) => b - a));
}
