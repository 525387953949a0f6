// A run's records in their canonical order: by query id and rollout. Each file is written anew beside the old one and put
// in its place as a whole; a run that somebody writes to is left alone.
import { closeSync, existsSync, fsyncSync, openSync, readSync, renameSync, statSync, writeSync } from "node:fs";
import { dirname, join } from "node:path";
import { readHead } from "./finished.ts";
import { scanLines } from "./lines.ts";
import { Lock } from "./lock.ts";
import { openRun } from "./read-run.ts";
import { recordFiles } from "./rounds.ts";
import { syncFolder } from "./write-whole.ts";

export type SortedFile = { dataset: string; file: string; records: number; changed: boolean };

export function sortRun(folder: string): SortedFile[] {
  const { path, manifest } = openRun(folder);
  const lock = Lock.take(join(path, "lock"), path);
  try {
    return Object.entries(manifest.datasets)
      .flatMap(([dataset, { output }]) => recordFiles(path, dataset, output).map((file) => ({ dataset, file })))
      .filter(({ file }) => existsSync(file))
      .map(({ dataset, file }) => ({ dataset, file, ...sortFile(file, dataset) }));
  } finally {
    lock.release();
  }
}

type Place = { dataset: string; id: string; rollout: number; offset: number; length: number };

function sortFile(file: string, dataset: string): { records: number; changed: boolean } {
  const places: Place[] = [];
  const end = scanLines(file, (line) => {
    const head = readHead(line, dataset);
    places.push({
      dataset: head?.dataset ?? dataset,
      id: head?.queryId ?? "",
      rollout: head?.rollout ?? 0,
      offset: line.offset,
      length: line.bytes.length + 1,
    });
  });
  const before = [...places];
  places.sort(inOrder);
  const changed = places.some((place, index) => place !== before[index]) || statSync(file).size !== end;
  if (changed) rewrite(file, places);
  return { records: places.length, changed };
}

/** By code units, so that every machine agrees. */
function inOrder(a: Place, b: Place): number {
  return compare(a.dataset, b.dataset) || compare(a.id, b.id) || a.rollout - b.rollout || a.offset - b.offset;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function rewrite(file: string, places: readonly Place[]): void {
  const from = openSync(file, "r");
  const to = openSync(`${file}.new`, "w");
  try {
    for (const { offset, length } of places) {
      const bytes = Buffer.allocUnsafe(length);
      readSync(from, bytes, 0, length, offset);
      writeSync(to, bytes);
    }
    fsyncSync(to);
  } finally {
    closeSync(from);
    closeSync(to);
  }
  renameSync(`${file}.new`, file);
  syncFolder(dirname(file));
}
