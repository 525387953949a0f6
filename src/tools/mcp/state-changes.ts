// What changed from one state to the next, both any JSON. What looks like tables is compared by id: objects of objects,
// and lists of objects with an id of their own; objects that hold nothing but tables are looked into. Everything else
// is a record of the table `state`, under its name. The first state decides what looks like what, so that two states
// that came from the same one are always told in the same words.
import { ExactNumber, isObject, type Json, type JsonObject, type StateChanges } from "../../core/index.ts";

type Rows = Map<string, JsonObject>;
type Value = Json | undefined;
type Changes = Map<string, Map<string, JsonObject | null>>;

export function changesBetween(before: Json, after: Json): StateChanges {
  const changes: Changes = new Map();
  if (isObject(before) && isObject(after)) compareMembers("", before as JsonObject, after as JsonObject, changes);
  else compareValues("", before, after, changes);
  return Object.fromEntries([...changes].map(([table, rows]) => [table, Object.fromEntries(rows)]));
}

const OTHERS = "state";
const WHOLE = "value";

function compareMembers(path: string, before: JsonObject, after: JsonObject, changes: Changes): void {
  for (const name of namesOf(before, after)) compareValues(path + name, own(before, name), own(after, name), changes);
}

function compareValues(path: string, before: Value, after: Value, changes: Changes): void {
  if (sameJson(before, after)) return;
  if (after === undefined || (isEmpty(before) && isEmpty(after))) {
    note(changes, OTHERS, path || WHOLE, recordChange(before, after));
    return;
  }
  const model = isEmpty(before) ? after : before;
  const readRows = rowReader(path, model);
  if (holdsTables(model) && isObjectOrNothing(before) && isObject(after)) {
    compareMembers(`${path}.`, (before ?? {}) as JsonObject, after as JsonObject, changes);
    return;
  }
  const [was, is] = [readRows?.(before), readRows?.(after)];
  if (was && is) compareRows(path || OTHERS, was, is, changes);
  else note(changes, OTHERS, path || WHOLE, recordChange(before, after));
}

function compareRows(table: string, before: Rows, after: Rows, changes: Changes): void {
  for (const id of new Set([...before.keys(), ...after.keys()])) {
    const [was, is] = [before.get(id), after.get(id)];
    if (sameJson(was, is)) continue;
    note(changes, table, id, is === undefined ? null : was ? changedFields(was, is) : withId(id, is));
  }
}

function note(changes: Changes, table: string, id: string, change: JsonObject | null): void {
  const rows = changes.get(table) ?? new Map<string, JsonObject | null>();
  changes.set(table, rows.set(id, change));
}

function recordChange(before: Value, after: Value): JsonObject | null {
  if (after === undefined) return null;
  if (isObject(before) && isObject(after)) return changedFields(before as JsonObject, after as JsonObject);
  return before === undefined && isObject(after) ? (after as JsonObject) : { [WHOLE]: after };
}

/** A field that is gone is null. */
function changedFields(before: JsonObject, after: JsonObject): JsonObject {
  const changed = namesOf(before, after).filter((name) => !sameJson(own(before, name), own(after, name)));
  return Object.fromEntries(changed.map((name) => [name, own(after, name) ?? null]));
}

/** New records are known by their own id among their fields. */
function withId(id: string, row: JsonObject): JsonObject {
  return Object.values(row).some((value) => String(value) === id) || Object.hasOwn(row, "id") ? row : { id, ...row };
}

/** How to read values that look like this one as rows; undefined if it is no table. */
function rowReader(path: string, model: Value): ((value: Value) => Rows | undefined) | undefined {
  if (isObject(model)) return Object.values(model).every(isObject) ? rowsOfObject : undefined;
  if (!Array.isArray(model)) return undefined;
  const field = idFields(path, model).find((name) => rowsOfList(model, name));
  return field === undefined ? undefined : (value) => rowsOfList(value ?? [], field);
}

function rowsOfObject(value: Value = {}): Rows | undefined {
  if (!isObject(value) || !Object.values(value).every(isObject)) return undefined;
  return new Map(Object.entries(value as { [id: string]: JsonObject }));
}

function rowsOfList(value: Json, field: string): Rows | undefined {
  if (!Array.isArray(value)) return undefined;
  const rows: Rows = new Map();
  for (const item of value) {
    const id = isObject(item) ? own(item as JsonObject, field) : undefined;
    const isId = typeof id === "string" || typeof id === "number";
    if (!isId || rows.has(String(id))) return undefined;
    rows.set(String(id), item as JsonObject);
  }
  return rows;
}

/** Fields that may be the id of a list's items, the likeliest first. */
function idFields(path: string, [first]: Json[]): string[] {
  const singular = (path.split(".").at(-1) ?? "").toLowerCase().replace(/ies$/, "y").replace(/s$/, "");
  const rank = (name: string) => {
    const folded = name.toLowerCase();
    if (folded === "id" || folded === "_id") return 0;
    if (folded === `${singular}_id` || folded === `${singular}id`) return 1;
    return /(?:^|_)(?:id|uuid|key|code|number)$/.test(folded) || /[a-z]I[dD]$/.test(name)
      ? 2
      : folded === "name"
        ? 3
        : 4;
  };
  const names = isObject(first) ? Object.keys(first) : [];
  return names.filter((name) => rank(name) < 4).sort((a, b) => rank(a) - rank(b));
}

/** An object with nothing in it but tables, such as one database among several. */
function holdsTables(value: Value): boolean {
  if (!isObject(value)) return false;
  const members = Object.entries(value as JsonObject).filter(([, member]) => !isEmpty(member));
  return members.length > 0 && members.every(([name, member]) => rowReader(name, member) !== undefined);
}

function isEmpty(value: Value): boolean {
  if (value === undefined || value === null) return true;
  return Array.isArray(value) ? value.length === 0 : isObject(value) && Object.keys(value).length === 0;
}

function isObjectOrNothing(value: Value): boolean {
  return value === undefined || isObject(value);
}

function namesOf(a: JsonObject, b: JsonObject): string[] {
  return [...new Set([...Object.keys(a), ...Object.keys(b)])];
}

function own(object: JsonObject, name: string): Value {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

/** Numbers as they are written: 2.0 is another state than 2. */
function sameJson(a: Value, b: Value): boolean {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  const [exactA, exactB]: unknown[] = [a, b];
  if (exactA instanceof ExactNumber || exactB instanceof ExactNumber)
    return exactA instanceof ExactNumber && exactB instanceof ExactNumber && exactA.text === exactB.text;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  if (Array.isArray(a))
    return a.length === (b as Json[]).length && a.every((item, at) => sameJson(item, (b as Json[])[at]));
  const names = Object.keys(a);
  if (names.length !== Object.keys(b).length) return false;
  return names.every((name) => Object.hasOwn(b, name) && sameJson(a[name], (b as JsonObject)[name]));
}
