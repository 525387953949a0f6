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

/** The value, or undefined if the text is not JSON, or nested too deep for us. */
export function parseJson(text: string): Json | undefined {
  if (isTooDeep(text)) return undefined;
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

/** Deeper JSON is refused where it enters: code that walks it by recursion, ours and a trainer's, would overflow. */
export const MAX_JSON_DEPTH = 128;

/** Whether a JSON text is nested deeper than that, found without parsing it. */
export function isTooDeep(text: string, limit = MAX_JSON_DEPTH): boolean {
  return findTooDeep(text, limit) !== undefined;
}

/** Where a JSON text becomes nested deeper than that. */
export function findTooDeep(text: string, limit = MAX_JSON_DEPTH): number | undefined {
  if (text.length <= limit) return undefined;
  let depth = 0;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code === QUOTE) {
      index = stringEnd(text, index);
    } else if (code === OPEN_BRACE || code === OPEN_BRACKET) {
      if (++depth > limit) return index;
    } else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) depth--;
  }
  return undefined;
}

const [QUOTE, BACKSLASH, OPEN_BRACE, OPEN_BRACKET, CLOSE_BRACE, CLOSE_BRACKET] = [34, 92, 123, 91, 125, 93];

/** Where the string that opens at `start` closes; the end of the text if it does not. */
export function stringEnd(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let slashes = end;
    while (text.charCodeAt(slashes - 1) === BACKSLASH) slashes--;
    if ((end - slashes) % 2 === 0) return end;
  }
  return text.length;
}
