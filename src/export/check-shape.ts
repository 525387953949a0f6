// Whether a row has a format's columns, with values of their types.
import { isObject } from "../core/index.ts";
import type { ColumnType, Format } from "./formats/format.ts";
import { PAIR_MODES } from "./formats/format.ts";
import { UNROLL_MODES } from "./unroll.ts";

/** Columns beyond a format's own are nobody's business. */
export function checkShape(row: { [column: string]: unknown }, format: Format): string[] {
  const variants = format.required ?? [["messages"]];
  const best = variants
    .map((names) => names.filter((name) => row[name] === undefined))
    .sort((a, b) => a.length - b.length);
  const missing = best[0] ?? [];
  if (missing.length > 0) {
    const wanted = variants.map((names) => names.join(", ")).join("; or ");
    const there = Object.keys(row).slice(0, 8).join(", ") || "none";
    return [
      `${missing.join(", ")} ${missing.length > 1 ? "are" : "is"} missing: a row of ${format.name} has ${wanted}; here are ${there}`,
    ];
  }
  const columns = knownColumns(format);
  return Object.entries(row).flatMap(([name, value]) => {
    const type = columns[name];
    return type === undefined ? [] : misfits(value, type, name);
  });
}

function knownColumns(format: Format): { [name: string]: ColumnType } {
  const pairs = PAIR_MODES.map((mode) => format.pairs?.[mode]?.columns);
  const modes = UNROLL_MODES.map((mode) => format.columnsFor?.(mode));
  return Object.assign({ id: "string", query_id: "string" }, ...pairs, ...modes, format.columns, format.shapes);
}

const WORDS: { [type: string]: string } = {
  string: "text",
  boolean: "true or false",
  integer: "a whole number",
  number: "a number",
};

/** The first misfit of each member, by its path without places: `messages.tool_calls.id`. */
function misfits(value: unknown, type: ColumnType, path: string): string[] {
  if (value === null || value === undefined || type === "json") return [];
  if (typeof type === "string")
    return fits(value, type) ? [] : [`${path} is ${kindOf(value)} where ${WORDS[type]} is expected`];
  if ("list" in type) {
    if (!Array.isArray(value)) return [`${path} is ${kindOf(value)} where a list is expected`];
    return [...new Set(value.flatMap((item) => misfits(item, type.list, path)))];
  }
  if (!isObject(value)) return [`${path} is ${kindOf(value)} where an object is expected`];
  return Object.entries(type.fields).flatMap(([name, inner]) => misfits(value[name], inner, `${path}.${name}`));
}

function fits(value: unknown, type: string): boolean {
  if (type === "integer") return Number.isInteger(value);
  return typeof value === type;
}

function kindOf(value: unknown): string {
  if (typeof value === "string") return "text";
  if (Array.isArray(value)) return "a list";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}
