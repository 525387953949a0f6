// The append-only log of a run. Read back, it gives the entries of every rollout that did not finish.
import {
  type CallStart,
  type Entry,
  type EntryEnd,
  type Outcome,
  type RolloutEnd,
  type RolloutKey,
  type RolloutStart,
  type RunEvent,
  rolloutId,
} from "../core/index.ts";
import { type Extent, jsonLine } from "../files/index.ts";
import type { DamagedLine } from "./damage.ts";
import { keyText } from "./finished.ts";
import { readEntries, scanJournalLines } from "./journal-lines.ts";
import { FORMAT_VERSION } from "./manifest.ts";

/** Its entries are read from the journal on demand: none are held in memory. */
export type Unfinished = {
  /** those that failed on their own account */
  attempts: number;
  /** the latest attempt failed, on whatever account; otherwise it was cut off */
  failed: boolean;
  fingerprint: string;
  /** how many entries there are */
  recorded: number;
  readonly entries: Entry[];
  /** the idempotency keys of calls that were sent, by call id */
  readonly sent: ReadonlyMap<string, string>;
  /** how it ended, if only its record is missing; undefined if entries are missing too */
  ended?: Outcome;
};

/** The type comes first, then the key, so that a scan can tell lines apart without parsing them. */
export function journalLine(event: RunEvent): string {
  if (event.type === "entry-end") return entryLine(event); // most of all lines, by far
  const { type, ...rest } = event;
  if (event.type === "run-start") return jsonLine({ type, version: FORMAT_VERSION, ...rest });
  if (!("queryId" in event)) return jsonLine({ type, ...rest });
  const { type: _type, dataset, queryId, rollout, ...more } = withoutOpening(event);
  return jsonLine({ type, dataset, queryId, rollout, ...more });
}

function entryLine({ type, dataset, queryId, rollout, index, entry }: EntryEnd): string {
  return jsonLine({ type, dataset, queryId, rollout, index, entry });
}

/** The query has it, and an event that is told need not be written. */
function withoutOpening<E extends RunEvent>(event: E): E {
  return event.type === "rollout-start" && event.opening ? { ...event, opening: undefined } : event;
}

type Open = {
  key: RolloutKey;
  attempt: number;
  fingerprint: string;
  extents: Extent[];
  sent?: Map<string, string>;
  end?: Outcome;
  /** that it had when it ended */
  entries?: number;
};

const NOTHING_SENT: ReadonlyMap<string, string> = new Map();

/** `onNotice`: what people should know when entries are read later. */
export type JournalWatch = { onDamage?: (line: DamagedLine) => void; onNotice?: (message: string) => void };

/**
 * Rollouts that were cut off or failed, with the entries of their latest attempt, and where the last complete
 * line ends. Only the positions of open rollouts' entries are held in memory.
 */
export function scanJournal(
  file: string,
  { onDamage, onNotice = () => {} }: JournalWatch = {},
): { unfinished: Map<string, Unfinished>; completeBytes: number } {
  const forgotten = new Set<string>();
  const { open, completeBytes } = scanAttempts(file, {
    forget: true,
    isWanted: () => true,
    onDamage,
    onForgotten: (key) => forgotten.add(keyText(key)),
  });
  const unfinished = new Map<string, Unfinished>();
  for (const attempt of open.values()) unfinished.set(keyText(attempt.key), toUnfinished(file, attempt, onNotice));
  // a rollout whose record was damaged continued after it had ended
  for (const [key, begun] of forgotten.size > 0 ? recallAttempts(file, forgotten, onNotice) : [])
    if (unfinished.has(key)) unfinished.set(key, begun);
  return { unfinished, completeBytes };
}

/** The latest attempts of these rollouts, also of those that ended: what their records were made from. */
export function recallAttempts(
  file: string,
  keys: ReadonlySet<string>,
  onNotice: (message: string) => void = () => {},
): Map<string, Unfinished> {
  const { open } = scanAttempts(file, { forget: false, isWanted: (key) => keys.has(keyText(key)) });
  return new Map([...open.values()].map((attempt) => [keyText(attempt.key), toUnfinished(file, attempt, onNotice)]));
}

type ScanOptions = {
  /** nothing is kept of rollouts that ended */
  forget: boolean;
  isWanted(key: RolloutKey): boolean;
  onDamage?: (line: DamagedLine) => void;
  /** a rollout continues that is not known any more */
  onForgotten?: (key: RolloutKey) => void;
};

function scanAttempts(file: string, options: ScanOptions): { open: Map<string, Open>; completeBytes: number } {
  const { forget, isWanted, onDamage, onForgotten } = options;
  const open = new Map<string, Open>();
  const completeBytes = scanJournalLines(
    file,
    ({ type, key, index, extent, event }) => {
      if (type === "entry-end") {
        const extents = open.get(key)?.extents;
        if (extents && index === 0) extents.length = 0; // starts over; usually that is known already
        if (extents?.length === index) extents.push(extent); // what follows a gap cannot be continued
      } else if (type === "rollout-start") {
        const { dataset, queryId, rollout, continued, attempt, fingerprint } = event() as RolloutStart;
        if (!isWanted({ dataset, queryId, rollout })) return;
        const before = open.get(key);
        if (continued > 0 && !before) onForgotten?.({ dataset, queryId, rollout });
        const extents = continued > 0 ? (before?.extents.slice(0, continued) ?? []) : [];
        const sent = continued > 0 ? before?.sent : undefined;
        open.set(key, { key: { dataset, queryId, rollout }, attempt, fingerprint, extents, sent });
      } else if (type === "call-start") {
        const begun = open.get(key);
        const { callId, key: idempotencyKey } = event() as CallStart;
        if (begun) begun.sent = (begun.sent ?? new Map()).set(callId, idempotencyKey);
      } else if (type === "rollout-end") {
        const begun = open.get(key);
        const { outcome, entries } = event() as RolloutEnd;
        if (begun && (!forget || outcome.stopReason === "infrastructure")) {
          begun.end = outcome;
          begun.entries = entries;
        } else open.delete(key);
      }
    },
    onDamage,
  );
  return { open, completeBytes };
}

function toUnfinished(file: string, attempt: Open, onNotice: (message: string) => void): Unfinished {
  const { key, fingerprint, extents, end } = attempt;
  const failed = end?.stopReason === "infrastructure";
  return {
    // an attempt that was cut off does not count as one, nor does a failure that is not the rollout's own
    attempts: failed && end.own !== false ? attempt.attempt : attempt.attempt - 1,
    failed,
    fingerprint,
    recorded: extents.length,
    sent: attempt.sent ?? NOTHING_SENT,
    get entries() {
      const entries = extents.length > 0 ? readEntries(file, extents) : [];
      if (entries.length < extents.length)
        onNotice(
          `${file}: entry ${entries.length} of ${rolloutId(key)} of ${key.dataset} is damaged; the rollout continues before it`,
        );
      return entries;
    },
    ended: failed || attempt.entries !== extents.length ? undefined : end,
  };
}
