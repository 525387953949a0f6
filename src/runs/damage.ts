// Damaged lines of a run's files: named, and, by the run's one writer, moved out of the way as they are.
import { closeSync, fsyncSync, openSync, statSync } from "node:fs";
import { basename, dirname } from "node:path";
import { type Extent, readExtents, rewriteFile, syncFolder, writeAll } from "../files/index.ts";

export type DamagedLine = Extent & { number: number; reason: string };

/** More than these say no more. */
export const MAX_NAMED = 5;

/** Which lines and why, for one sentence. */
export function nameLines(lines: readonly Pick<DamagedLine, "number" | "reason">[]): string {
  const named = lines.slice(0, MAX_NAMED).map(({ number, reason }) => `line ${number} ${reason}`);
  const more = lines.length > MAX_NAMED ? [`and ${lines.length - MAX_NAMED} more`] : [];
  return [...named, ...more].join("; ");
}

export function countLines(lines: readonly unknown[]): string {
  return lines.length === 1 ? "1 damaged line" : `${lines.length} damaged lines`;
}

/**
 * Moves lines to `<file>.damaged`, where they are on disk before the file is replaced by one without them, and without
 * `noise`. Only for the holder of the file's lock. Returns what to say about it.
 */
export function setAside(file: string, damaged: readonly DamagedLine[], noise: readonly Extent[] = []): string {
  const target = `${file}.damaged`;
  const descriptor = openSync(target, "a");
  try {
    for (const { offset, length } of damaged) {
      for (const bytes of readExtents(file, pieces(offset, offset + length))) writeAll(descriptor, bytes);
      writeAll(descriptor, NEWLINE);
    }
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
  syncFolder(dirname(target));
  dropExtents(file, [...damaged.map(({ offset, length }) => ({ offset, length: length + 1 })), ...noise]);
  return `${file}: ${countLines(damaged)} set aside in ${basename(target)} (${nameLines(damaged)})`;
}

const NEWLINE = Buffer.from("\n");
const PIECE = 4 << 20;

/** Replaces a file by one without these parts. */
export function dropExtents(file: string, extents: readonly Extent[]): void {
  const sorted = [...extents].sort((a, b) => a.offset - b.offset);
  rewriteFile(file, readExtents(file, around(sorted, statSync(file).size)));
}

function* around(extents: readonly Extent[], size: number): Generator<Extent, void> {
  let from = 0;
  for (const { offset, length } of extents) {
    yield* pieces(from, offset);
    from = Math.max(from, offset + length);
  }
  yield* pieces(from, size);
}

function* pieces(from: number, to: number): Generator<Extent, void> {
  for (let offset = from; offset < to; offset += PIECE) yield { offset, length: Math.min(PIECE, to - offset) };
}
