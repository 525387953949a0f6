// The append-only log of a run. Read back, it gives the entries of every rollout that did not come to its end.
import { closeSync, openSync, readSync } from "node:fs";
import {
  type Entry,
  type EntryEnd,
  parseJson,
  type RolloutEnd,
  type RolloutStart,
  type RunEvent,
} from "../core/index.ts";
import { keyText } from "./finished.ts";
import { jsonLine, scanLines } from "./lines.ts";

export type Unfinished = { attempts: number; fingerprint: string; entries: Entry[] };

/** The type comes first, so that a scan can skip lines without parsing them. */
export function journalLine(event: RunEvent): string {
  const { type, ...rest } = event;
  return jsonLine({ type, ...rest });
}

type Open = { attempts: number; fingerprint: string; places: { offset: number; length: number }[]; ended: boolean };

/**
 * Rollouts that were started and did not end well, with the entries of their latest attempt, and where the last complete
 * line ends. Only the rollouts that are open at the same time are held in memory.
 */
export function scanJournal(file: string): { unfinished: Map<string, Unfinished>; completeBytes: number } {
  const open = new Map<string, Open>();
  const completeBytes = scanLines(file, ({ bytes, offset }) => {
    const type = bytes.toString("latin1", 9, bytes.indexOf(34, 9));
    if (type !== "rollout-start" && type !== "entry-end" && type !== "rollout-end") return;
    const event =
      type === "entry-end"
        ? entryHead(bytes)
        : (parseJson(bytes.toString("utf8")) as RolloutStart | RolloutEnd | undefined);
    if (!event) return;
    const key = keyText(event);
    if (event.type === "rollout-start") {
      const before = open.get(key);
      const places = event.continued > 0 ? (before?.places.slice(0, event.continued) ?? []) : [];
      open.set(key, { attempts: event.attempt, fingerprint: event.fingerprint, places, ended: false });
    } else if (event.type === "entry-end") {
      open.get(key)?.places.push({ offset, length: bytes.length });
    } else if (event.outcome.stopReason === "infrastructure") {
      const failed = open.get(key);
      if (failed) failed.ended = true;
    } else open.delete(key);
  });
  const unfinished = new Map<string, Unfinished>();
  for (const [key, { attempts, fingerprint, places, ended }] of open) {
    // an attempt that was cut off, rather than failed, does not count as one
    unfinished.set(key, {
      attempts: ended ? attempts : attempts - 1,
      fingerprint,
      entries: places.length > 0 ? readEntries(file, places) : [],
    });
  }
  return { unfinished, completeBytes };
}

const ENTRY = Buffer.from(',"index":');

function entryHead(bytes: Buffer): EntryEnd | undefined {
  const end = bytes.indexOf(ENTRY);
  return end === -1 ? undefined : (parseJson(`${bytes.toString("utf8", 0, end)}}`) as EntryEnd | undefined);
}

function readEntries(file: string, places: { offset: number; length: number }[]): Entry[] {
  const descriptor = openSync(file, "r");
  try {
    return places.map(({ offset, length }) => {
      const bytes = Buffer.allocUnsafe(length);
      readSync(descriptor, bytes, 0, length, offset);
      return (JSON.parse(bytes.toString("utf8")) as EntryEnd).entry;
    });
  } finally {
    closeSync(descriptor);
  }
}
