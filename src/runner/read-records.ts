// The records of a run, read for a replay: whole lines only, each with the dataset that it belongs to.
import { didYouMean, isObject, rolloutId, type Trajectory, UsageError } from "../core/index.ts";
import { parseJsonAt, readLines } from "../files/index.ts";
import { type Manifest, readHead, recordFiles } from "../runs/index.ts";
import type { StoredDataset } from "../scoring/index.ts";

type Wanted = { folder: string; ids?: string[] };

type Output = Pick<StoredDataset, "name" | "outputs">;

/** Before anything is opened: an id that no record has is a mistake of the user's. */
export function countRecords(
  path: string,
  { datasets }: Manifest,
  { folder, ids }: Wanted,
  onNotice: (message: string) => void,
): number {
  const wanted = ids && new Set(ids);
  const known = new Set<string>();
  let count = 0;
  for (const [name, { output }] of Object.entries(datasets)) {
    const outputs = recordFiles(path, name, output);
    for (const { key } of readKeyed({ name, outputs }, (file) =>
      onNotice(`${file}: the last line is not complete and is left out: it was torn, or is still being written`),
    )) {
      const own = [rolloutId(key), key.queryId];
      for (const id of own) known.add(id);
      if (!wanted || own.some((id) => wanted.has(id))) count++;
    }
  }
  const unknown = ids?.find((id) => !known.has(id));
  if (unknown !== undefined)
    throw new UsageError(`There is no record "${unknown}" in ${folder}${didYouMean(unknown, known)}`);
  return count;
}

type KeyedLine = { file: string; number: number; bytes: Buffer; key: NonNullable<ReturnType<typeof readHead>> };

/** The complete lines that are this dataset's; `bytes` are valid until the next one is taken. */
function* readKeyed({ name, outputs }: Output, onTorn: (file: string) => void = () => {}): Generator<KeyedLine, void> {
  for (const file of outputs) {
    for (const line of readLines(file)) {
      const { bytes, number, length, isOpen } = line;
      if (isOpen) onTorn(file);
      if (isOpen || length === 0) continue;
      const key = readHead(line, name);
      if (!key) throw notRecord(file, number, bytes);
      const isOriginal = key.fingerprint === ""; // it says too little to be compared
      if (key.dataset === name && !isOriginal) yield { file, number, bytes, key };
    }
  }
}

type ReadRecord = { dataset: StoredDataset; trajectory: Trajectory; index: number };

export function* readRecords(datasets: StoredDataset[], ids: string[] | undefined): Generator<ReadRecord, undefined> {
  const wanted = ids && new Set(ids);
  let index = 0;
  for (const dataset of datasets) {
    for (const { file, number, bytes, key } of readKeyed(dataset)) {
      if (wanted && !wanted.has(rolloutId(key)) && !wanted.has(key.queryId)) continue;
      const record = parseJsonAt(bytes.toString("utf8"), { file, line: number });
      if (!isObject(record) || !Array.isArray(record.messages) || !isObject(record.metadata))
        throw notRecord(file, number, bytes);
      yield { dataset, trajectory: record as unknown as Trajectory, index: index++ };
    }
  }
}

function notRecord(file: string, line: number, bytes: Buffer): UsageError {
  parseJsonAt(bytes.toString("utf8"), { file, line }); // says where, if it is not even JSON
  return new UsageError("is not a record of a run", { file, line });
}
