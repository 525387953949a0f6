// JSON values, one canonical text for each, and hashes of it.
import { createHash } from "node:crypto";
import { ExactNumber, withExactNumbers } from "./exact-json.ts";

/** Read with `parseExact`, its numbers may also be ExactNumbers. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type JsonObject = { [key: string]: Json };

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof ExactNumber);
}

/** The same text for equal values, regardless of key order; undefined members are left out as in JSON. */
export function canonicalJson(value: unknown): string {
  if (value === undefined || value === null || typeof value !== "object") return JSON.stringify(value ?? null);
  if (value instanceof ExactNumber) return value.text;
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
    .map(([key, member]) => `${JSON.stringify(key)}:${canonicalJson(member)}`);
  return `{${members.join(",")}}`;
}

/** 16 hex digits of SHA-256: short enough to read, and long enough not to clash within one run. */
export function contentHash(value: unknown): string {
  const text = typeof value === "string" ? value : canonicalJson(value);
  return createHash("sha256").update(text).digest("hex").slice(0, 16);
}

/** The value, or undefined if the text is not JSON. */
export function parseJson(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

/** The same, with every number as it was written. */
export function parseExact(text: string): Json | undefined {
  const value = parseJson(text);
  return value === undefined ? undefined : withExactNumbers(value, text);
}
