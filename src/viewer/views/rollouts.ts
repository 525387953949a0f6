// The table of a run's rollouts, as an address asks for it.
import type { TableRow, TableView } from "../api.ts";
import type { IndexedRow } from "../rows.ts";
import type { RunIndex } from "../run-index.ts";
import type { NamedRun } from "../runs.ts";
import { excerptOf, Search } from "../search.ts";
import { type Chosen, type Column, chooseRows, orderRows, readTableQuery, type TableQuery } from "../table.ts";

/** How long a table waits for a search before it shows what was found until then. */
const SEARCH_MS = 300;

export async function toTableView({ index }: NamedRun, params: URLSearchParams): Promise<TableView> {
  const query = readTableQuery(params);
  const { rows, facets, search } = await chooseFor(index, query);
  const shown = rows.slice(query.offset, query.offset + query.limit);
  return {
    total: index.rows.length,
    chosen: rows.length,
    offset: query.offset,
    rows: shown.map((row) => ({ ...toTableRow(row), excerpt: search && excerptOf(row, search) })),
    facets,
    isWhole: index.isTableRead,
    progress: index.isTableRead ? 1 : index.progress,
    search: search?.stateFor(index.rows),
  };
}

/** The rows that a query asks for; of a text, those that were found until now. */
export async function chooseFor(index: RunIndex, query: TableQuery): Promise<Chosen & { search?: Search }> {
  const search = query.text === undefined ? undefined : searchFor(index, query.text);
  await search?.ask(index.rows, SEARCH_MS);
  const isFound = search && ((at: number) => search.has(at));
  return { ...chooseRows(index.rows, query, orderOf(index, query.sort), isFound), search };
}

/** What is kept of a run until its rows change; while they are being read for the first time, somewhat longer. */
type Kept = { version: number; orders: Map<Column, Uint32Array>; all?: Chosen["facets"]; until: number };
const kept = new WeakMap<RunIndex, Kept>();
const SHARE = 20;

function keptOf(index: RunIndex): Kept {
  const known = kept.get(index);
  if (known && (known.version === index.rowsVersion || (!index.isTableRead && performance.now() < known.until)))
    return known;
  const fresh: Kept = { version: index.rowsVersion, orders: new Map(), until: 0 };
  kept.set(index, fresh);
  return fresh;
}

export function orderOf(index: RunIndex, column: Column): Uint32Array {
  const own = keptOf(index);
  const known = own.orders.get(column);
  if (known) return known;
  const began = performance.now();
  const order = orderRows(index.rows, column);
  own.orders.set(column, order);
  own.until = performance.now() + SHARE * (performance.now() - began);
  return order;
}

/** How many of all rows have each value of each facet. */
export function countFacets(index: RunIndex): Chosen["facets"] {
  const own = keptOf(index);
  own.all ??= chooseRows(index.rows, readTableQuery(new URLSearchParams()), orderOf(index, "ended")).facets;
  return own.all;
}

const MAX_SEARCHES = 4;
const searches = new WeakMap<RunIndex, { generation: number; byText: Map<string, Search> }>();

/** The last ones are kept: with other filters, or on the next page, nothing is searched again. */
function searchFor(index: RunIndex, text: string): Search {
  let own = searches.get(index);
  if (own?.generation !== index.generation) own = { generation: index.generation, byText: new Map() };
  searches.set(index, own);
  const search = own.byText.get(text) ?? new Search(text);
  own.byText.delete(text);
  own.byText.set(text, search);
  const [oldest] = own.byText.keys();
  if (own.byText.size > MAX_SEARCHES) own.byText.delete(oldest as string);
  return search;
}

function toTableRow(row: IndexedRow): TableRow {
  const { dataset, id, queryId, rollout, stopReason, ended, verdict, score, blame, turns, steps } = row;
  const { toolCalls, toolErrors, tokens, costUsd, seconds, endedAt, annotation, tags } = row;
  return {
    ...{ dataset, id, queryId, rollout, stopReason, ended, verdict, score, blame, turns, steps },
    ...{ toolCalls, toolErrors, tokens, costUsd, seconds, endedAt, annotation, tags },
  };
}
