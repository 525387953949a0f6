// JSON lines on disk: writing them so that every reader agrees where a line ends, and reading large files line by line.
import { closeSync, existsSync, fstatSync, openSync, readSync } from "node:fs";

/** One line, including the newline. Characters that some readers take for line ends are escaped. */
export function jsonLine(value: unknown): string {
  return `${escapeLineEnds(JSON.stringify(value))}\n`;
}

export function escapeLineEnds(text: string): string {
  // looking for one character after another is ten times as fast as for any of them
  return LINE_ENDS.some((end) => text.includes(end)) ? text.replace(EACH_LINE_END, escapeCharacter) : text;
}

const LINE_ENDS = ["\u0085", "\u2028", "\u2029"];
const EACH_LINE_END = /[\u0085\u2028\u2029]/g;
const escapeCharacter = (end: string) => `\\u${end.charCodeAt(0).toString(16).padStart(4, "0")}`;

/** Where bytes are in a file. */
export type Extent = { offset: number; length: number };

/** `bytes` is valid until the next line is requested. */
export type Line = Extent & {
  bytes: Buffer;
  /** counted from 1, starting where reading began */
  number: number;
  /** the file ends here without a newline: a last line, or one that a crash tore */
  isOpen: boolean;
};

const CHUNK_BYTES = 4 << 20;

/**
 * The lines of a file from an offset on; a file of any size takes a few megabytes. To follow a growing file, read again
 * from the end of the last complete line.
 */
export function* readLines(file: string, from = 0): Generator<Line, void> {
  if (!existsSync(file)) return;
  const descriptor = openSync(file, "r");
  try {
    const size = fstatSync(descriptor).size - from;
    let buffer = Buffer.allocUnsafe(Math.min(Math.max(size, 1), CHUNK_BYTES));
    let held = 0; // bytes at the start of the buffer that belong to a line not yet complete
    let offset = from; // of the buffer's first byte in the file
    let number = 0;
    for (;;) {
      if (held === buffer.length) buffer = Buffer.concat([buffer], buffer.length * 2);
      const read = readSync(descriptor, buffer, held, buffer.length - held, offset + held);
      const end = held + read;
      if (read === 0) {
        if (held > 0) yield lineAt(0, held, true);
        return;
      }
      let start = 0;
      let newline = buffer.indexOf(10, held);
      while (newline !== -1 && newline < end) {
        yield lineAt(start, newline, false);
        start = newline + 1;
        newline = buffer.indexOf(10, start);
      }
      buffer.copyWithin(0, start, end);
      held = end - start;
      offset += start;
    }

    function lineAt(start: number, stop: number, isOpen: boolean): Line {
      const bytes = buffer.subarray(start, stop);
      return { bytes, offset: offset + start, length: stop - start, number: ++number, isOpen };
    }
  } finally {
    closeSync(descriptor);
  }
}

/** Calls back for each complete line and returns the offset after the last one: what follows is a torn tail. */
export function scanLines(file: string, onLine: (line: Line) => void): number {
  let end = 0;
  for (const line of readLines(file)) {
    if (line.isOpen) break;
    onLine(line);
    end = line.offset + line.length + 1;
  }
  return end;
}
