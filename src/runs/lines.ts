// JSON lines on disk: writing them so that every reader agrees where a line ends, and scanning large files quickly.
import { closeSync, existsSync, fstatSync, openSync, readSync } from "node:fs";
import { contentHash } from "../core/index.ts";

/** One line, newline included. Characters that some readers take for line ends are escaped. */
export function jsonLine(value: unknown): string {
  const text = JSON.stringify(value);
  return `${LINE_ENDS.test(text) ? text.replace(EACH_LINE_END, (end) => `\\u${end.charCodeAt(0).toString(16).padStart(4, "0")}`) : text}\n`;
}

const LINE_ENDS = /[\u0085\u2028\u2029]/;
const EACH_LINE_END = /[\u0085\u2028\u2029]/g;

export type Line = { bytes: Buffer; offset: number; number: number };

/**
 * Calls back for each complete line and returns the offset behind the last one: what follows is a torn tail. The bytes
 * are valid only during the call.
 */
export function scanLines(file: string, onLine: (line: Line) => void): number {
  if (!existsSync(file)) return 0;
  const descriptor = openSync(file, "r");
  try {
    const size = fstatSync(descriptor).size;
    let buffer = Buffer.allocUnsafe(Math.min(Math.max(size, 1), 4 << 20));
    let held = 0; // bytes at the start of the buffer that belong to a line not yet complete
    let offset = 0; // of the buffer's first byte in the file
    let number = 0;
    for (;;) {
      if (held === buffer.length) buffer = Buffer.concat([buffer], buffer.length * 2);
      const read = readSync(descriptor, buffer, held, buffer.length - held, offset + held);
      if (read === 0) return offset;
      const end = held + read;
      let start = 0;
      for (
        let newline = buffer.indexOf(10, held);
        newline !== -1 && newline < end;
        newline = buffer.indexOf(10, start)
      ) {
        onLine({ bytes: buffer.subarray(start, newline), offset: offset + start, number: ++number });
        start = newline + 1;
      }
      buffer.copyWithin(0, start, end);
      held = end - start;
      offset += start;
    }
  } finally {
    closeSync(descriptor);
  }
}

/** A name as one part of a path: never empty, `.`, `..` or a separator; one name's file is no other name's. */
export function fileName(name: string): string {
  const encoded = encodeURIComponent(name.replace(/\p{Surrogate}/gu, (half) => `\ufffd${half.charCodeAt(0)}`))
    .replace(/[!'()*~]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)
    .replace(/^\./, "%2E");
  if (encoded === "") return "~";
  return encoded.length <= LONGEST_NAME ? encoded : `${encoded.slice(0, LONGEST_NAME - 17)}~${contentHash(name)}`;
}

/** In bytes, with room for an extension: file systems end at 255. */
const LONGEST_NAME = 200;
