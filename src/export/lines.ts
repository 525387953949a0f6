// The lines of a file one after the other, and again by their place; a file of any size takes a few megabytes.
import { closeSync, openSync, readSync } from "node:fs";

export type Place = { offset: number; length: number; number: number };
export type TextLine = Place & {
  text: string;
  /** the file ends without a newline here: a last line, or one that a crash tore */
  isOpen: boolean;
};

const CHUNK = 1 << 20;

/** Blank lines are passed over. */
export function* readLines(file: string): Generator<TextLine> {
  const descriptor = openSync(file, "r");
  try {
    let buffer = Buffer.allocUnsafe(CHUNK);
    let held = 0;
    let offset = 0;
    let number = 0;
    for (;;) {
      if (held === buffer.length) buffer = Buffer.concat([buffer], buffer.length * 2);
      const read = readSync(descriptor, buffer, held, buffer.length - held, offset + held);
      const end = held + read;
      let start = 0;
      for (
        let newline = buffer.indexOf(10, held);
        newline !== -1 && newline < end;
        newline = buffer.indexOf(10, start)
      ) {
        number++;
        const line = lineAt(buffer, start, newline, { offset: offset + start, number, isOpen: false });
        if (line) yield line;
        start = newline + 1;
      }
      if (read === 0) {
        const line = lineAt(buffer, start, end, { offset: offset + start, number: number + 1, isOpen: true });
        if (line) yield line;
        return;
      }
      buffer.copyWithin(0, start, end);
      held = end - start;
      offset += start;
    }
  } finally {
    closeSync(descriptor);
  }
}

type Where = Pick<TextLine, "offset" | "number" | "isOpen">;

function lineAt(buffer: Buffer, start: number, end: number, where: Where): TextLine | undefined {
  const text = buffer.toString("utf8", start, end).replace(/^\ufeff/, "");
  return text.trim() === "" ? undefined : { ...where, text, length: end - start };
}

export class LineReader {
  readonly #descriptors = new Map<string, number>();

  textAt(file: string, { offset, length }: Pick<Place, "offset" | "length">): string {
    let descriptor = this.#descriptors.get(file);
    if (descriptor === undefined) {
      descriptor = openSync(file, "r");
      this.#descriptors.set(file, descriptor);
    }
    const buffer = Buffer.allocUnsafe(length);
    readSync(descriptor, buffer, 0, length, offset);
    return buffer.toString("utf8").replace(/^\ufeff/, "");
  }

  close(): void {
    for (const descriptor of this.#descriptors.values()) closeSync(descriptor);
    this.#descriptors.clear();
  }
}
