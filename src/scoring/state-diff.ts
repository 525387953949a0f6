// Two final states compared record by record. Existing records are identified by their id; new ones are identified by
// their content, since every environment generates its own ids: those are mapped onto each other wherever they occur.
import { canonicalJson, cutText, isObject, type Json, type StateChanges, writeExact } from "../core/index.ts";
import type { Row } from "../tools/index.ts";

export type StateDifference = {
  kind: "missing" | "unexpected" | "different" | "not_deleted" | "deleted" | "duplicate";
  table: string;
  id: string;
  /** one line for people */
  text: string;
};

type Volatile = { [table: string]: string[] };

export function compareStates(
  actual: StateChanges,
  expected: StateChanges,
  volatile: Volatile = {},
): StateDifference[] {
  const [is, should] = [normalise(actual, volatile), normalise(expected, volatile)];
  const tables = [...new Set([...Object.keys(actual), ...Object.keys(expected)])].sort();
  return tables.flatMap((table) => [
    ...compareKnown(table, is.known[table] ?? {}, should.known[table] ?? {}),
    ...compareNew(table, is.added[table] ?? [], should.added[table] ?? []),
  ]);
}

export function diffLines(differences: readonly StateDifference[]): string[] {
  const signs = {
    missing: "-",
    not_deleted: "-",
    unexpected: "+",
    deleted: "+",
    duplicate: "+",
    different: "~",
  } as const;
  return differences.map(({ kind, text }) => `${signs[kind]} ${text}`);
}

type Added = { id: string; row: Row; text: string };
type Normalised = {
  known: { [table: string]: { [id: string]: Row | null } };
  added: { [table: string]: Added[] };
};

/** Splits new records from changed ones, drops volatile fields, and replaces new ids by what they stand for. */
function normalise(state: StateChanges, volatile: Volatile): Normalised {
  const rows = Object.entries(state).flatMap(([table, changes]) => {
    const fields = [...(volatile[table] ?? []), ...(volatile["*"] ?? [])];
    return Object.entries(changes).map(([id, row]) => ({
      table,
      id,
      isNew: row !== null && Object.values(row).includes(id),
      row: row && without(row, fields),
    }));
  });
  const fresh = rows.filter(({ isNew }) => isNew);
  const isFresh = new Set(fresh);
  // each new id first stands for its table, then for its record's content: records that point at each other then differ
  let names = new Map(fresh.map(({ id, table }) => [id, `new ${table}`]));
  names = new Map(
    fresh.map(({ id, table, row }) => [
      id,
      `new ${table} ${canonicalJson(foldValue(renameFields(row as Row, names)))}`,
    ]),
  );
  const result: Normalised = { known: {}, added: {} };
  for (const entry of rows) {
    const { table, id, row } = entry;
    if (isFresh.has(entry)) {
      const own = renameFields(row as Row, names);
      result.added[table] = [...(result.added[table] ?? []), { id, row: own, text: canonicalJson(foldValue(own)) }];
    } else if (row === null || Object.keys(row).length > 0) {
      result.known[table] = { ...result.known[table], [id]: row && renameFields(row, names) };
    }
  }
  return result;
}

function without(row: Row, fields: string[]): Row {
  return fields.length === 0
    ? row
    : Object.fromEntries(Object.entries(row).filter(([field]) => !fields.includes(field)));
}

/** A new id may occur alone, in a list or inside a text. */
function renameFields(row: Row, names: ReadonlyMap<string, string>): Row {
  if (names.size === 0) return row;
  const rename = (value: Json): Json => {
    if (typeof value === "string") {
      let text = names.get(value) ?? value;
      if (text === value) for (const [id, name] of names) if (text.includes(id)) text = text.replaceAll(id, name);
      return text;
    }
    if (Array.isArray(value)) return value.map(rename);
    if (!isObject(value)) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, member]) => [String(rename(key)), rename(member as Json)]),
    );
  };
  return rename(row) as Row;
}

type Known = { [id: string]: Row | null };

function compareKnown(table: string, is: Known, should: Known): StateDifference[] {
  return [...new Set([...Object.keys(should), ...Object.keys(is)])].flatMap((id): StateDifference[] => {
    const [actual, wanted] = [is[id], should[id]];
    const about = (kind: StateDifference["kind"], text: string) => [
      { kind, table, id, text: `${table} ${id}: ${text}` },
    ];
    if (wanted === null) return actual === null ? [] : about("not_deleted", "should have been deleted");
    if (actual === null) return about("deleted", "was deleted and should not have been");
    if (wanted === undefined) return about("unexpected", `should not have changed: ${fieldsText(actual as Row)}`);
    if (actual === undefined) return about("missing", `did not change: expected ${fieldsText(wanted)}`);
    const text = differenceText(actual, wanted);
    return text === "" ? [] : about("different", text);
  });
}

/** Equal records cancel out in pairs; of the rest, the most similar are shown next to each other. */
function compareNew(table: string, is: Added[], should: Added[]): StateDifference[] {
  const left = [...is];
  const wanted = should.filter(({ text }) => {
    const at = left.findIndex((added) => added.text === text);
    if (at !== -1) left.splice(at, 1);
    return at === -1;
  });
  const differences: StateDifference[] = [];
  for (const expected of wanted) {
    const best = left
      .map((added) => ({ added, gap: gapBetween(added.row, expected.row) }))
      .sort((a, b) => a.gap - b.gap)[0];
    if (best && best.gap <= 0.5) {
      left.splice(left.indexOf(best.added), 1);
      const text = `${table} ${best.added.id} (new): ${differenceText(best.added.row, expected.row)}`;
      differences.push({ kind: "different", table, id: best.added.id, text });
    } else {
      const text = `${table} (new): missing, expected ${fieldsText(expected.row)}`;
      differences.push({ kind: "missing", table, id: "", text });
    }
  }
  for (const { id, row, text } of left) {
    const twice = should.some((expected) => expected.text === text);
    differences.push({
      kind: twice ? "duplicate" : "unexpected",
      table,
      id,
      text: `${table} ${id} (new): ${twice ? "there once too often" : "should not be there"}: ${fieldsText(row)}`,
    });
  }
  return differences;
}

function fieldsOf(a: Row, b: Row): string[] {
  return [...new Set([...Object.keys(b), ...Object.keys(a)])].filter((key) => !isSame(a[key], b[key]));
}

function isSame(a: Json | undefined, b: Json | undefined): boolean {
  return canonicalJson(foldValue(a ?? null)) === canonicalJson(foldValue(b ?? null));
}

/**
 * Texts are the same whatever their case and spacing, numbers to six decimals. A number that a server writes in a way of
 * its own (2.0) keeps that: to the server it may be another one than 2.
 */
function foldValue(value: Json): Json {
  if (typeof value === "string") return value.normalize("NFKC").replace(/\s+/g, " ").trim().toLowerCase();
  if (typeof value === "number") return Math.round(value * 1e6) / 1e6;
  if (Array.isArray(value)) return value.map(foldValue);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, foldValue(member as Json)]));
}

function gapBetween(a: Row, b: Row): number {
  const telling = fieldsOf(a, b).filter((field) => show(a[field]) !== show(b[field]));
  return telling.length / Math.max(Object.keys({ ...a, ...b }).length - 1, 1); // its own id is not similarity
}

function differenceText(is: Row, should: Row): string {
  const texts = fieldsOf(is, should).map((field) => [field, show(should[field]), show(is[field])] as const);
  // a new record's own id changes with its content; that alone says nothing
  const telling = texts.filter(([, wanted, actual]) => wanted !== actual);
  return (telling.length > 0 ? telling : texts)
    .map(([field, wanted, actual]) => `${field} should be ${wanted}, is ${actual}`)
    .join("; ");
}

function fieldsText(row: Row): string {
  return Object.entries(row)
    .map(([field, value]) => `${field} ${show(value)}`)
    .join(", ");
}

function show(value: Json | undefined): string {
  if (value === undefined) return "unchanged";
  const text = typeof value === "string" && value.startsWith("new ") ? `(${value.split(" {")[0]})` : writeExact(value);
  return cutText(text, 60);
}
