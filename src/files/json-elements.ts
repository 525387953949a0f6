// The elements of one large JSON array, each with its place in the file: a file of any size takes a few megabytes.
import { closeSync, openSync, readSync } from "node:fs";
import { UsageError } from "../core/index.ts";
import type { Extent } from "./lines.ts";

/** `bytes` is valid until the next element is requested; `number` is the line it begins in, `column` its place there. */
export type Element = Extent & { bytes: Buffer; number: number; column: number };

const CHUNK_BYTES = 4 << 20;
const [NEWLINE, QUOTE, COMMA, OPEN, CLOSE, BACKSLASH] = [10, 34, 44, 91, 93, 92];
const SPACES = new Set([9, 10, 13, 32]);
const BOM = [0xef, 0xbb, 0xbf];

/** Whether a file holds an array, by its first character; lines of JSON never begin with one. */
export function isArrayFile(file: string): boolean {
  const descriptor = openSync(file, "r");
  try {
    const buffer = Buffer.alloc(4096);
    for (let at = 0, read = -1; read !== 0; at += read) {
      read = readSync(descriptor, buffer, 0, buffer.length, at);
      const first = buffer
        .subarray(0, read)
        .find((byte, index) => !SPACES.has(byte) && !(at === 0 && byte === BOM[index]));
      if (first !== undefined) return first === OPEN;
    }
    return false;
  } finally {
    closeSync(descriptor);
  }
}

/** What stands between the elements must be an array; what each of them is, whoever reads it finds out. */
export function* readElements(file: string): Generator<Element, void> {
  const descriptor = openSync(file, "r");
  try {
    let buffer = Buffer.allocUnsafe(CHUNK_BYTES);
    let held = 0; // bytes at the start of the buffer that belong to an element not yet complete
    let offset = 0; // of the buffer's first byte in the file
    let line = 1;
    let lineStart = 0;
    let next: "array" | "first" | "element" | "inside" | "separator" | "end" = "array";
    let depth = 0;
    let inText = false;
    let isEscaped = false;
    let start = 0; // of the element, in the buffer
    let began = { number: 1, column: 1 };
    for (;;) {
      if (held === buffer.length) buffer = Buffer.concat([buffer], buffer.length * 2);
      const read = readSync(descriptor, buffer, held, buffer.length - held, offset + held);
      const end = held + read;
      if (read === 0) break;
      for (let at = held; at < end; at++) {
        const byte = buffer[at] as number;
        if (byte === NEWLINE) {
          line++;
          lineStart = offset + at + 1;
        }
        if (next === "inside") {
          if (inText) {
            if (isEscaped) isEscaped = false;
            else if (byte === BACKSLASH) isEscaped = true;
            else if (byte === QUOTE) inText = false;
            continue;
          }
          if (byte === QUOTE) inText = true;
          else if (byte === OPEN || byte === 123) depth++;
          else if (depth > 0 && (byte === CLOSE || byte === 125)) depth--;
          else if (depth === 0 && (byte === COMMA || byte === CLOSE)) {
            const bytes = buffer.subarray(start, at);
            yield { bytes, offset: offset + start, length: bytes.length, ...began };
            next = byte === COMMA ? "element" : "end";
          }
          continue;
        }
        if (SPACES.has(byte) || (offset + at < 3 && byte === BOM[offset + at])) continue;
        const place = { number: line, column: offset + at - lineStart + 1 };
        if (next === "array" && byte === OPEN) next = "first";
        else if (next === "first" && byte === CLOSE) next = "end";
        else if ((next === "first" || next === "element") && byte !== COMMA && byte !== CLOSE) {
          next = "inside";
          [depth, inText, isEscaped, start, began] = [0, false, false, at, place];
          at--; // its first byte is read as part of it
        } else
          throw problem(
            next === "end" ? "nothing may follow the array" : "an element of the array is missing here",
            place,
          );
      }
      const keep = next === "inside" ? start : end;
      buffer.copyWithin(0, keep, end);
      held = end - keep;
      offset += keep;
      start = 0;
    }
    // one that is cut off is shown to whoever reads it, who can say where
    if (next === "inside") yield { bytes: buffer.subarray(0, held), offset, length: held, ...began };
    if (next !== "end") throw problem("the array is not closed: ] is missing", { number: line, column: 1 });

    function problem(what: string, { number, column }: { number: number; column: number }): UsageError {
      return new UsageError(`is not valid JSON: ${what}`, { file, line: number, column });
    }
  } finally {
    closeSync(descriptor);
  }
}
