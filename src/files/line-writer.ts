// A new file, written line by line and on disk once it is closed. For one writer that does nothing else meanwhile.
import { closeSync, fsyncSync, mkdirSync, openSync } from "node:fs";
import { dirname } from "node:path";
import { writeAll } from "./write-whole.ts";

const BUFFERED = 1 << 20;
const NEWLINE = Buffer.from("\n");

export class LineWriter {
  readonly #descriptor: number;
  #parts: Buffer[] = [];
  #size = 0;

  constructor(path: string) {
    mkdirSync(dirname(path), { recursive: true });
    this.#descriptor = openSync(path, "wx");
  }

  /** A line without its newline. It is copied: the bytes may change afterwards. */
  write(line: Buffer): void {
    this.#parts.push(Buffer.concat([line, NEWLINE]));
    this.#size += line.length + 1;
    if (this.#size >= BUFFERED) this.#flush();
  }

  close(): void {
    try {
      this.#flush();
      fsyncSync(this.#descriptor);
    } finally {
      closeSync(this.#descriptor);
    }
  }

  #flush(): void {
    writeAll(this.#descriptor, Buffer.concat(this.#parts));
    this.#parts = [];
    this.#size = 0;
  }
}
