// Rows as JSON lines, in large writes.
import { closeSync, fsyncSync, openSync, writeSync } from "node:fs";
import { type DatasetRow, rowText } from "./row-text.ts";

export interface RowWriter {
  write(row: DatasetRow): void;
  /** The file is complete and on disk after this. */
  close(): void;
  /** Closes the file without completing it. */
  abandon(): void;
}

const CHUNK_BYTES = 1 << 20;

export function createJsonlWriter(file: string): RowWriter {
  const descriptor = openSync(file, "w");
  let pending: string[] = [];
  let size = 0;
  const flush = () => {
    const bytes = Buffer.from(pending.join(""));
    pending = [];
    size = 0;
    for (let done = 0; done < bytes.length; ) done += writeSync(descriptor, bytes, done);
  };
  return {
    write(row) {
      const text = rowText(row);
      pending.push(text, "\n");
      size += text.length;
      if (size >= CHUNK_BYTES) flush();
    },
    close() {
      flush();
      fsyncSync(descriptor);
      closeSync(descriptor);
    },
    abandon: () => closeSync(descriptor),
  };
}
