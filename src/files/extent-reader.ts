// Rereads parts of files by their offsets. Each file is opened once.
import { readSync } from "node:fs";
import { closeSpared, openSpared } from "./descriptors.ts";
import type { Extent } from "./lines.ts";

export class ExtentReader {
  readonly #descriptors = new Map<string, number>();

  read(file: string, { offset, length }: Extent): Buffer {
    let descriptor = this.#descriptors.get(file);
    if (descriptor === undefined) {
      descriptor = openSpared(file);
      this.#descriptors.set(file, descriptor);
    }
    const bytes = Buffer.allocUnsafe(length);
    const read = readSync(descriptor, bytes, 0, length, offset);
    return read === length ? bytes : bytes.subarray(0, read);
  }

  close(): void {
    for (const descriptor of this.#descriptors.values()) closeSpared(descriptor);
    this.#descriptors.clear();
  }
}

/** Several parts of one file, in sequence. */
export function* readExtents(file: string, extents: Iterable<Extent>): Generator<Buffer, void> {
  const reader = new ExtentReader();
  try {
    for (const extent of extents) yield reader.read(file, extent);
  } finally {
    reader.close();
  }
}
