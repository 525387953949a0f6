// The records of a run's shares, copied line by line into one run folder; of each rollout there is one.
import { existsSync, realpathSync } from "node:fs";
import { sep } from "node:path";
import { canonicalJson, isObject, parseJson, type RolloutKey, rolloutId, UsageError } from "../core/index.ts";
import { type Extent, LineWriter, readExtents } from "../files/index.ts";
import type { DamagedLine } from "./damage.ts";
import { bodyOf } from "./examine-record.ts";
import { keyText } from "./finished.ts";
import { ROUND, recordFiles, rolloutOf, roundFile, roundFiles, usualOutput } from "./rounds.ts";
import { leftOut, scanRecords } from "./scan-records.ts";
import type { Claims, Share } from "./shares.ts";

type Place = Extent & { file: string };

export type RecordMerge = {
  draft: string;
  shares: readonly Share[];
  claims: Claims;
  onRecord(): void;
  onNotice(message: string): void;
};

export class RecordMerger {
  readonly #merge: RecordMerge;
  readonly #places = new Map<string, Place>();

  constructor(merge: RecordMerge) {
    this.#merge = merge;
  }

  get size(): number {
    return this.#places.size;
  }

  has(key: string): boolean {
    return this.#places.has(key);
  }

  /** Copies a dataset's records and returns how many there are. */
  copy(dataset: string): number {
    const before = this.size;
    const writers = new Map<string, LineWriter>();
    const read = new Set<string>();
    for (const [index, share] of this.#merge.shares.entries()) {
      const { output } = share.manifest.datasets[dataset] ?? {};
      for (const file of output === undefined ? [] : filesHere(share, dataset, output)) {
        const real = realpathSync(file);
        if (!read.has(real)) this.#copyFile(file, { dataset, output: output ?? "", share, index, writers });
        read.add(real); // several shares may have written to one output_path
      }
    }
    for (const writer of writers.values()) writer.close();
    return this.size - before;
  }

  /** A rollout that ended must have a record, unless that is damaged: it may be in a file that was left behind. */
  require({ folder, path, manifest }: Share, { dataset, queryId, rollout }: RolloutKey): void {
    if (this.has(keyText({ dataset, queryId, rollout }))) return;
    const { output = "" } = manifest.datasets[dataset] ?? {};
    const usual = usualOutput(path, dataset, output);
    if (roundFiles(usual).some((file) => existsSync(file))) return;
    const file = roundFile(output, rollout);
    throw new UsageError(
      `${folder}: the record of ${rolloutId({ queryId, rollout })} of ${dataset} is not here; it was written to ${file}. Put that file there, or at ${roundFile(usual, rollout)}`,
    );
  }

  #copyFile(file: string, { dataset, output, share, index, writers }: CopiedFile): void {
    const { draft, claims, onRecord, onNotice } = this.#merge;
    const isOutside = !file.startsWith(`${share.path}${sep}`);
    const rollout = output.includes(ROUND) ? rolloutOf(output, file) : undefined;
    const damaged: DamagedLine[] = [];
    for (const line of scanRecords(file, { dataset, rollout, shared: isOutside })) {
      const { bytes, offset, length, number, isOpen, examined } = line;
      if (typeof examined === "string" && !isOpen) damaged.push({ offset, length, number, reason: examined });
      if (typeof examined !== "object" || examined.record.dataset !== dataset) continue;
      const key = keyText(examined.record);
      if (!this.#isNew(key, { file, offset, length })) continue;
      if (!isOutside) claims.take(key, index);
      const target = roundFile(usualOutput(draft, dataset, output), examined.record.rollout);
      const writer = writers.get(target) ?? new LineWriter(target);
      writers.set(target, writer);
      writer.write(bodyOf(bytes));
      onRecord();
    }
    if (damaged.length > 0) onNotice(leftOut(file, damaged));
  }

  /** Two records of one rollout must be the same. */
  #isNew(key: string, place: Place): boolean {
    const before = this.#places.get(key);
    if (!before) {
      this.#places.set(key, place);
      return true;
    }
    if (contentAt(before) === contentAt(place)) return false;
    const [dataset, queryId, rollout] = JSON.parse(key) as [string, string, number];
    throw new UsageError(
      `${rolloutId({ queryId, rollout })} of ${dataset} is in ${before.file} and in ${place.file}, and the two differ: these are not shares of one run, or their queries were in different orders`,
    );
  }
}

type CopiedFile = {
  dataset: string;
  output: string;
  share: Share;
  index: number;
  writers: Map<string, LineWriter>;
};

/** A share's record files, in its folder before anywhere else: what a path of another machine means here is not known. */
function filesHere({ path }: Share, dataset: string, output: string): string[] {
  const own = roundFiles(usualOutput(path, dataset, output)).filter((file) => existsSync(file));
  return own.length > 0 ? own : recordFiles(path, dataset, output).filter((file) => existsSync(file));
}

/** What a record says, apart from when. */
function contentAt({ file, ...extent }: Place): string {
  const [bytes] = readExtents(file, [extent]);
  const record = bytes && parseJson(bodyOf(bytes).toString("utf8"));
  if (!isObject(record) || !isObject(record.metadata)) return bytes?.toString("latin1") ?? "";
  const { timings: _timings, ...metadata } = record.metadata;
  return canonicalJson({ ...record, metadata });
}
