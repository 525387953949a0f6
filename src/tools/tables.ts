// A database that many rollouts share, each with its own writes: the base is frozen and shared, a rollout holds only
// what it changed. Opening one costs a small object, regardless of the base's size.
import { canonicalJson, type Json, type StateChanges } from "../core/index.ts";
import { requireJsonRow } from "./json-value.ts";

export type Row = { [field: string]: Json };

/** One table as a tool sees it. Returned rows are read-only: change them with `update`. */
export interface Table<R extends Row = Row> {
  get(id: string): R | undefined;
  /** Rows whose fields equal the given ones, or that pass the test; base order, then in order of insertion. */
  where(match?: Partial<R> | ((row: R) => boolean)): R[];
  first(match: Partial<R> | ((row: R) => boolean)): R | undefined;
  insert(row: R): R;
  update(id: string, changes: Partial<R>): R;
  remove(id: string): void;
}

/** The primary key's field: the table's name in lower case, then `_id`. */
export function primaryKey(table: string): string {
  return `${table.toLowerCase()}_id`;
}

export class BaseTable {
  readonly name: string;
  readonly key: string;
  readonly rows: readonly Row[];
  readonly byId: ReadonlyMap<string, Row>;
  readonly #byField = new Map<string, Map<Json, Row[]>>();

  constructor(name: string, rows: Row[]) {
    this.name = name;
    this.key = primaryKey(name);
    this.rows = deepFreeze(rows);
    this.byId = new Map(rows.map((row) => [String(row[this.key]), row]));
  }

  matching(field: string, value: Json): readonly Row[] {
    let index = this.#byField.get(field);
    if (!index) {
      index = new Map();
      for (const row of this.rows) {
        const held = row[field] ?? null;
        const rows = index.get(held);
        if (rows) rows.push(row);
        else index.set(held, [row]);
      }
      this.#byField.set(field, index);
    }
    return index.get(value) ?? [];
  }
}

export class Database {
  readonly #tables: ReadonlyMap<string, BaseTable>;
  constructor(tables: Iterable<BaseTable>) {
    this.#tables = new Map(Array.from(tables, (table) => [table.name, table]));
  }
  get(name: string): BaseTable | undefined {
    return this.#tables.get(name);
  }
  names(): string[] {
    return [...this.#tables.keys()];
  }
  open(): OpenDatabase {
    return new OpenDatabase(this);
  }
}

/** One rollout's view of a database. Servers of a combination share one, so that each sees the others' writes. */
export class OpenDatabase {
  readonly #base: Database;
  readonly #tables = new Map<string, OpenTable>();
  constructor(base: Database) {
    this.#base = base;
  }

  table<R extends Row>(name: string): Table<R> {
    let table = this.#tables.get(name);
    if (!table) {
      table = new OpenTable(this.#base.get(name) ?? new BaseTable(name, []));
      this.#tables.set(name, table);
    }
    return table as unknown as Table<R>;
  }

  changes(): StateChanges {
    const changes: StateChanges = {};
    for (const name of [...this.#tables.keys()].sort()) {
      const changed = this.#tables.get(name)?.changes();
      if (changed && Object.keys(changed).length > 0) changes[name] = changed;
    }
    return changes;
  }
}

class OpenTable implements Table {
  readonly #base: BaseTable;
  /** id → the current row, or null if it was removed; inserted rows are those that the base does not have */
  #written: Map<string, Row | null> | undefined;

  constructor(base: BaseTable) {
    this.#base = base;
  }

  get(id: string): Row | undefined {
    const written = this.#written?.get(id);
    return written === null ? undefined : (written ?? this.#base.byId.get(id));
  }

  where(match: Partial<Row> | ((row: Row) => boolean) = {}): Row[] {
    const test = typeof match === "function" ? match : (row: Row) => fieldsEqual(row, match);
    const [rows, candidates, written] = [[] as Row[], this.#candidates(match), this.#written];
    // by index: an iterator over a frozen array leaves an object behind for each row
    for (let at = 0; at < candidates.length; at++) {
      const row = candidates[at] as Row;
      const changed = written?.get(String(row[this.#base.key]));
      const now = changed === undefined ? row : changed;
      if (now && test(now)) rows.push(now);
    }
    if (!written) return rows;
    for (const [id, row] of written) {
      if (row && !this.#base.byId.has(id) && test(row)) rows.push(row);
    }
    return rows;
  }

  first(match: Partial<Row> | ((row: Row) => boolean)): Row | undefined {
    return this.where(match)[0];
  }

  insert(row: Row): Row {
    const id = row[this.#base.key];
    if (typeof id !== "string") throw new Error(`A row for ${this.#base.name} needs "${this.#base.key}"`);
    if (this.get(id)) throw new Error(`${this.#base.name} already has ${id}`);
    requireJsonRow(row, this.#base.name);
    return this.#write(id, row);
  }

  update(id: string, changes: Partial<Row>): Row {
    const row = this.get(id);
    if (!row) throw new Error(`${this.#base.name} has no ${id}`);
    requireJsonRow(changes, this.#base.name);
    return this.#write(id, { ...row, ...(changes as Row) });
  }

  remove(id: string): void {
    if (!this.get(id)) throw new Error(`${this.#base.name} has no ${id}`);
    this.#written ??= new Map();
    if (this.#base.byId.has(id)) this.#written.set(id, null);
    else this.#written.delete(id);
  }

  changes(): { [id: string]: Row | null } {
    const changes: [string, Row | null][] = [];
    for (const [id, row] of this.#written ?? []) {
      const before = this.#base.byId.get(id);
      const changed = row && before ? changedFields(before, row) : row;
      if (changed === null || Object.keys(changed).length > 0) changes.push([id, changed]);
    }
    return Object.fromEntries(changes); // any id, even `__proto__`, stays a plain member
  }

  #write(id: string, row: Row): Row {
    this.#written ??= new Map();
    this.#written.set(id, deepFreeze(row));
    return row;
  }

  /** The base rows worth testing, in base order: one index lookup if no written row can have started to match. */
  #candidates(match: Partial<Row> | ((row: Row) => boolean)): readonly Row[] {
    const field = indexField(match);
    if (!field) return this.#base.rows;
    const value = (match as Row)[field] ?? null;
    for (const [id, row] of this.#written ?? []) {
      const before = this.#base.byId.get(id);
      if (row && before && (before[field] ?? null) !== value && (row[field] ?? null) === value) return this.#base.rows;
    }
    return this.#base.matching(field, value);
  }
}

function indexField(match: Partial<Row> | ((row: Row) => boolean)): string | undefined {
  if (typeof match === "function") return undefined;
  return Object.keys(match).find((field) => typeof match[field] !== "object");
}

function fieldsEqual(row: Row, fields: Partial<Row>): boolean {
  for (const field of Object.keys(fields)) if (!sameJson(row[field] ?? null, fields[field] ?? null)) return false;
  return true;
}

function changedFields(before: Row, after: Row): Row {
  const fields = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return Object.fromEntries(
    fields
      .filter((field) => !sameJson(before[field] ?? null, after[field] ?? null))
      .map((field) => [field, after[field] ?? null]),
  );
}

function sameJson(a: Json, b: Json): boolean {
  return a === b || (typeof a === "object" && typeof b === "object" && canonicalJson(a) === canonicalJson(b));
}

function deepFreeze<T>(value: T): T {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const member of Object.values(value)) deepFreeze(member);
  }
  return value;
}
