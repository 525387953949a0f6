// The table of a run's rollouts, as an address asks for it.
import type { TableRow, TableView } from "../api.ts";
import type { IndexedRow } from "../run-index.ts";
import type { NamedRun } from "../runs.ts";
import { chooseRows, countFacets, readTableQuery } from "../table.ts";

export function toTableView({ index }: NamedRun, params: URLSearchParams): TableView {
  const query = readTableQuery(params);
  const chosen = chooseRows(index.rows, query);
  return {
    total: index.rows.length,
    chosen: chosen.length,
    offset: query.offset,
    rows: chosen.slice(query.offset, query.offset + query.limit).map(toTableRow),
    facets: countFacets(index.rows),
    isWhole: index.isRead,
  };
}

function toTableRow(indexed: IndexedRow): TableRow {
  const { place: _place, key: _key, tools: _tools, faults: _faults, judges: _judges, ...row } = indexed;
  return row;
}
