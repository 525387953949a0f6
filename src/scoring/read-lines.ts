// The complete lines of a file from a place on, a piece at a time: for reading a file that still grows.
import { closeSync, existsSync, openSync, readSync } from "node:fs";

const PIECE = 1 << 20;

/** Lines that begin at `offset` or later, and where to go on; no lines where there is nothing complete behind it yet. */
export function readLinesFrom(file: string, offset: number, size = PIECE): { lines: Buffer[]; next: number } {
  if (!existsSync(file)) return { lines: [], next: offset };
  const descriptor = openSync(file, "r");
  try {
    for (let length = size; ; length *= 2) {
      const buffer = Buffer.allocUnsafe(length);
      const read = readSync(descriptor, buffer, 0, length, offset);
      const end = buffer.lastIndexOf(10, read - 1);
      if (read === 0 || (end === -1 && read < length)) return { lines: [], next: offset };
      if (end === -1) continue; // one line longer than this piece
      return { lines: split(buffer.subarray(0, end)), next: offset + end + 1 };
    }
  } finally {
    closeSync(descriptor);
  }
}

function split(bytes: Buffer): Buffer[] {
  const lines: Buffer[] = [];
  for (let start = 0; start <= bytes.length; ) {
    const newline = bytes.indexOf(10, start);
    const end = newline === -1 ? bytes.length : newline;
    lines.push(bytes.subarray(start, end));
    start = end + 1;
  }
  return lines;
}
