// Sorts a run's records canonically: by query id and rollout. Each file is rewritten next to the old one and put
// in its place as a whole; a run that is being written to is left alone.
import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { type Extent, Lock, readExtents, rewriteFile, scanLines } from "../files/index.ts";
import { readHead } from "./finished.ts";
import { openRun } from "./read-run.ts";
import { listRecordFiles } from "./rounds.ts";

export type SortedFile = { dataset: string; file: string; records: number; changed: boolean };

export function sortRun(folder: string): SortedFile[] {
  const { path, manifest } = openRun(folder);
  const lock = Lock.take(join(path, "lock"), path);
  try {
    return listRecordFiles(path, manifest)
      .filter(({ file }) => existsSync(file))
      .map(({ dataset, file }) => ({ dataset, file, ...sortFile(file, dataset) }));
  } finally {
    lock.release();
  }
}

type RecordExtent = Extent & { dataset: string; id: string; rollout: number };

function sortFile(file: string, dataset: string): { records: number; changed: boolean } {
  const records: RecordExtent[] = [];
  const end = scanLines(file, (line) => {
    const head = readHead(line, dataset);
    records.push({
      dataset: head?.dataset ?? dataset,
      id: head?.queryId ?? "",
      rollout: head?.rollout ?? 0,
      offset: line.offset,
      length: line.bytes.length + 1,
    });
  });
  const before = [...records];
  records.sort(compareRecords);
  const changed = records.some((record, index) => record !== before[index]) || statSync(file).size !== end;
  if (changed) rewriteFile(file, readExtents(file, records));
  return { records: records.length, changed };
}

/** By code units, so that every machine agrees. */
function compareRecords(a: RecordExtent, b: RecordExtent): number {
  return compare(a.dataset, b.dataset) || compare(a.id, b.id) || a.rollout - b.rollout || a.offset - b.offset;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
