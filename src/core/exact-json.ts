// JSON whose numbers keep their text: `1.0`, `-0`, `1E5`, `1e400` and integers of twenty digits come out as they went in.
// Reading gives ordinary values; only a number that JavaScript would write differently becomes an ExactNumber.
import { randomUUID } from "node:crypto";

/** A number as it was written. To code that does not know it, it is the nearest ordinary number. */
export class ExactNumber {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
  valueOf(): number {
    return Number(this.text);
  }
  toString(): string {
    return this.text;
  }
  /** JSON has no infinity: the largest number stands for it. */
  toJSON(): number | string {
    written++;
    if (marking) return `${MARK}${this.text}`;
    return Math.max(-Number.MAX_VALUE, Math.min(Number.MAX_VALUE, Number(this.text)));
  }
}

/** how many have been written by JSON.stringify: tells whether a value holds any, at no cost */
let written = 0;
/** whether they are written as texts that begin with the mark, which nothing else can hold */
let marking = false;
const MARK = `exact ${randomUUID()} `;
const MARKED = new RegExp(`"${MARK}([^"]*)"`, "g");

/** What JSON.parse made of a text, with the numbers that it changed as they were; the same value if it changed none. */
export function withExactNumbers<T>(parsed: T, text: string): T {
  const changed = findChanged(text);
  if (changed.length === 0) return parsed;
  // U+0001 can be written in JSON in one way only: no other text in there begins with the mark
  let mark = '"\\u0001';
  while (text.includes(mark)) mark += "\\u0001";
  const pieces: string[] = [];
  let from = text.startsWith("\ufeff") ? 1 : 0; // a byte order mark
  for (const { at, number } of changed) {
    pieces.push(text.slice(from, at), mark, number, '"');
    from = at + number.length;
  }
  pieces.push(text.slice(from));
  return restore(JSON.parse(pieces.join("")), JSON.parse(`${mark}"`)) as T;
}

/** Whether JavaScript would write a number of this JSON differently. */
export function changesNumbers(text: string): boolean {
  return findChanged(text).length > 0;
}

/** The text of a value as JSON.stringify writes it, except that exact numbers keep their texts; of any depth. */
export function writeExact(value: unknown): string {
  const before = written;
  try {
    const text = JSON.stringify(value);
    if (written === before) return text;
    marking = true;
    return JSON.stringify(value).replaceAll(MARKED, "$1");
  } catch (error) {
    if (!(error instanceof RangeError)) throw error; // too deep for it
  } finally {
    marking = false;
  }
  return writeSlowly(value);
}

/** The same value with ordinary numbers only. */
export function toPlain<T>(value: T): T {
  const before = written;
  const text = JSON.stringify(value);
  return written === before ? value : (JSON.parse(text) as T);
}

const NUMBER = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const [QUOTE, MINUS, ZERO, NINE, BACKSLASH] = [34, 45, 48, 57, 92];

function findChanged(text: string): { at: number; number: string }[] {
  const changed: { at: number; number: string }[] = [];
  scanNumbers(text, (number, at) => {
    if (String(Number(number)) !== number) changed.push({ at, number });
  });
  return changed;
}

/** Every number of a JSON text, as it is written, and where. */
export function scanNumbers(text: string, onNumber: (number: string, at: number) => void): void {
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = endOfString(text, at);
    else if (code === MINUS || (code >= ZERO && code <= NINE)) {
      NUMBER.lastIndex = at;
      const [number] = NUMBER.exec(text) ?? [text[at] as string];
      onNumber(number, at);
      at += number.length - 1;
    }
  }
}

function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let slashes = 0;
    while (text.charCodeAt(end - 1 - slashes) === BACKSLASH) slashes++;
    if (slashes % 2 === 0) return end;
  }
  return text.length;
}

type Container = { [key: string]: unknown };

/** Texts that begin with the mark become numbers, in place. */
function restore(value: unknown, mark: string): unknown {
  const root: Container = { value };
  const todo = [root];
  for (let next = todo.pop(); next; next = todo.pop()) {
    for (const key of Object.keys(next)) {
      const member = next[key];
      if (typeof member === "string" && member.startsWith(mark)) next[key] = new ExactNumber(member.slice(mark.length));
      else if (typeof member === "object" && member !== null) todo.push(member as Container);
    }
  }
  return root.value;
}

type Piece = { text: string } | { value: unknown };

function writeSlowly(root: unknown): string {
  const parts: string[] = [];
  const todo: Piece[] = [{ value: root }];
  for (let piece = todo.pop(); piece; piece = todo.pop()) {
    if ("text" in piece) parts.push(piece.text);
    else for (const next of piecesOf(piece.value).reverse()) todo.push(next);
  }
  return parts.join("");
}

function piecesOf(given: unknown): Piece[] {
  if (given instanceof ExactNumber) return [{ text: given.text }];
  if (typeof given !== "object" || given === null) return [{ text: JSON.stringify(given) ?? "null" }];
  if ("toJSON" in given && typeof given.toJSON === "function") return [{ value: given.toJSON("") }];
  if (Array.isArray(given)) {
    const items = given.flatMap((value, index): Piece[] => [{ text: index === 0 ? "" : "," }, { value }]);
    return [{ text: "[" }, ...items, { text: "]" }];
  }
  const members = Object.entries(given)
    .filter(([, value]) => value !== undefined && typeof value !== "function" && typeof value !== "symbol")
    .flatMap(([key, value], index): Piece[] => [
      { text: `${index === 0 ? "" : ","}${JSON.stringify(key)}:` },
      { value },
    ]);
  return [{ text: "{" }, ...members, { text: "}" }];
}
