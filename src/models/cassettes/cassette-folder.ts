// A folder of cassettes: one append-only file per dataset, one line per model call. A line that a crash tore at the
// end is ignored.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { parseJson, UsageError } from "../../core/index.ts";
import { AppendFile, ExtentReader, fileName, jsonLine, scanLines } from "../../files/index.ts";
import { CallIndex } from "./call-index.ts";
import type { CallKey, CassetteStore, RecordedCall } from "./cassette.ts";

export type CassetteFolder = CassetteStore & { close(): Promise<void> };

export function recordInto(folder: string): CassetteFolder {
  const files = new Map<string, AppendFile>();
  return {
    find: async () => undefined,
    keep(dataset, call) {
      const file = files.get(dataset) ?? new AppendFile(pathOf(folder, dataset), { sync: "batch" });
      files.set(dataset, file);
      return file.append(jsonLine(call));
    },
    async close() {
      await Promise.all([...files.values()].map((file) => file.close()));
    },
  };
}

/** Each dataset's file is read through once, when its first call is looked up. */
export function replayFrom(folder: string): CassetteFolder {
  if (!existsSync(folder)) throw new UsageError(`There is no cassette folder ${folder}`);
  const tapes = new Map<string, Tape>();
  const reader = new ExtentReader();
  return {
    async find(key) {
      const tape = tapes.get(key.dataset) ?? openTape(pathOf(folder, key.dataset), reader);
      tapes.set(key.dataset, tape);
      return tape.find(key);
    },
    keep: () => Promise.reject(new Error("a cassette cannot be recorded while it is replayed")),
    async close() {
      reader.close();
      tapes.clear();
    },
  };
}

type Tape = { find(call: CallKey): RecordedCall | undefined };

function openTape(path: string, reader: ExtentReader): Tape {
  if (!existsSync(path)) throw new UsageError(`There is no cassette ${path}: was this dataset recorded?`);
  const index = new CallIndex();
  scanLines(path, ({ bytes, offset, length, number }) => {
    const key = keyOf(bytes);
    if (!key) throw new UsageError("this line is not a recorded call", { file: path, line: number });
    index.set(nameOf(key), { offset, length });
  });
  return {
    find(wanted) {
      const { queryId: query_id, rollout, party, position } = wanted;
      const name = nameOf({ query_id, rollout, party, position });
      const extent = index.get(name);
      if (!extent) return undefined;
      const call = JSON.parse(reader.read(path, extent).toString("utf8")) as RecordedCall;
      return nameOf(call) === name ? call : undefined;
    },
  };
}

type LineKey = Pick<RecordedCall, "query_id" | "rollout" | "party" | "position">;

const KEY_END = Buffer.from(',"request":');

/** The key is at the start of a line; the rest is read when needed. */
function keyOf(bytes: Buffer): LineKey | undefined {
  const end = bytes.indexOf(KEY_END);
  return end === -1 ? undefined : (parseJson(`${bytes.toString("utf8", 0, end)}}`) as LineKey | undefined);
}

function nameOf({ query_id, rollout, party, position }: LineKey): string {
  return JSON.stringify([query_id, rollout, party, position]);
}

function pathOf(folder: string, dataset: string): string {
  return join(folder, `${fileName(dataset)}.jsonl`);
}
