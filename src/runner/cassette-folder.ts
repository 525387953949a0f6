// A folder of cassettes: one append-only file for each dataset, one line for each model call. What a crash tore off at the
// end is ignored; keys are struck out of every line before it is written.
import { closeSync, existsSync, openSync, read } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { parseJson, UsageError } from "../core/index.ts";
import type { CallPlace, CassetteStore, RecordedCall } from "../models/index.ts";
import { AppendFile, fileName, jsonLine, scanLines } from "../runs/index.ts";
import { CallIndex } from "./call-index.ts";

export type CassetteFolder = CassetteStore & { close(): Promise<void> };

export function recordInto(folder: string, redact: (text: string) => string): CassetteFolder {
  const files = new Map<string, AppendFile>();
  return {
    find: async () => undefined,
    keep(dataset, call) {
      const file = files.get(dataset) ?? new AppendFile(pathOf(folder, dataset), { sync: "batch" });
      files.set(dataset, file);
      return file.append(redact(jsonLine(call)));
    },
    async close() {
      await Promise.all([...files.values()].map((file) => file.close()));
    },
  };
}

/** Each dataset's file is read through once, when its first call is looked for. */
export function replayFrom(folder: string): CassetteFolder {
  if (!existsSync(folder)) throw new UsageError(`There is no cassette folder ${folder}`);
  const tapes = new Map<string, Tape>();
  return {
    async find(place) {
      const tape = tapes.get(place.dataset) ?? openTape(pathOf(folder, place.dataset));
      tapes.set(place.dataset, tape);
      return tape.find(place);
    },
    keep: () => Promise.reject(new Error("a cassette that is played is not recorded on")),
    async close() {
      for (const { descriptor } of tapes.values()) closeSync(descriptor);
      tapes.clear();
    },
  };
}

type Tape = { descriptor: number; find(place: CallPlace): Promise<RecordedCall | undefined> };

const readAsync = promisify(read);

function openTape(path: string): Tape {
  if (!existsSync(path)) throw new UsageError(`There is no cassette ${path}: was this dataset recorded?`);
  const index = new CallIndex();
  scanLines(path, ({ bytes, offset, number }) => {
    const place = placeOf(bytes);
    if (!place) throw new UsageError("this line is no recorded call", { file: path, line: number });
    index.set(nameOf(place), { offset, length: bytes.length });
  });
  const descriptor = openSync(path, "r");
  return {
    descriptor,
    async find(wanted) {
      const { queryId: query_id, rollout, party, position } = wanted;
      const name = nameOf({ query_id, rollout, party, position });
      const extent = index.get(name);
      if (!extent) return undefined;
      const bytes = Buffer.allocUnsafe(extent.length);
      await readAsync(descriptor, bytes, 0, extent.length, extent.offset);
      const call = JSON.parse(bytes.toString("utf8")) as RecordedCall;
      return nameOf(call) === name ? call : undefined;
    },
  };
}

type LinePlace = Pick<RecordedCall, "query_id" | "rollout" | "party" | "position">;

const PLACE_END = Buffer.from(',"request":');

/** The place stands at the start of a line; the rest is read when it is needed. */
function placeOf(bytes: Buffer): LinePlace | undefined {
  const end = bytes.indexOf(PLACE_END);
  return end === -1 ? undefined : (parseJson(`${bytes.toString("utf8", 0, end)}}`) as LinePlace | undefined);
}

function nameOf({ query_id, rollout, party, position }: LinePlace): string {
  return JSON.stringify([query_id, rollout, party, position]);
}

function pathOf(folder: string, dataset: string): string {
  return join(folder, `${fileName(dataset)}.jsonl`);
}
