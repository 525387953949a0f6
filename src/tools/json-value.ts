// Whether a value that other people's code gave us is JSON: what is not would be lost, or would end far more than a call
// once it is written or hashed.
import { MAX_JSON_DEPTH } from "../core/index.ts";

/** Keys of a path in a message. */
const MAX_SHOWN = 8;
/** Values in one result or row. A few that refer to each other can stand for more than any memory holds. */
const MAX_VALUES = 2_000_000;

/** What in there is no JSON and where, for the tool's author; undefined if all of it is. */
export function findNonJson(value: unknown): string | undefined {
  const { found, path } = look(value, "result");
  return found && `${found}${path.length > 0 ? ` as "${path.join(".")}"` : ""}`;
}

/** A row is compared and hashed member by member, so things that only know how to write themselves are not JSON here. */
export function requireJsonRow(row: unknown, table: string): void {
  const { found, path } = look(row, "row");
  if (found) throw new TypeError(`A row of ${table} must be JSON, but its "${path.join(".")}" is ${found}`);
}

function look(value: unknown, kind: "result" | "row"): { found: string | undefined; path: string[] } {
  const path: string[] = [];
  let left = MAX_VALUES;
  const visit = (value: unknown, depth: number): string | undefined => {
    if (typeof value !== "object" || value === null) return nonJsonTypes[typeof value];
    if (depth === MAX_JSON_DEPTH) return TOO_DEEP;
    if (--left === 0) return `more than ${MAX_VALUES} values`;
    if (!Array.isArray(value) && typeof (value as { toJSON?: unknown }).toJSON === "function")
      return kind === "row" ? nameOf(value) : undefined;
    if (LOSSY.some((type) => value instanceof type)) return nameOf(value);
    for (const key of Object.keys(value)) {
      const found = visit((value as { [key: string]: unknown })[key], depth + 1);
      if (!found) continue;
      if (depth < MAX_SHOWN) path.unshift(key);
      return found;
    }
    return undefined;
  };
  return { found: visit(value, 0), path };
}

const TOO_DEEP = `a value that is nested deeper than ${MAX_JSON_DEPTH} levels or contains itself`;

const nonJsonTypes: { [type: string]: string } = { function: "a function", symbol: "a symbol", bigint: "a BigInt" };

/** JSON.stringify makes `{}` of these, whatever they hold. */
const LOSSY = [Map, Set, Promise, RegExp, Error, WeakMap, WeakSet];

function nameOf(value: object): string {
  const name = value.constructor?.name;
  return typeof name === "string" && name !== "" ? `a ${name}` : "an object of a class";
}
