// The append-only log of a run. Read back, it gives the entries of every rollout that did not finish.
import {
  type CallStart,
  type Entry,
  type EntryEnd,
  isObject,
  type Outcome,
  parseJson,
  type RolloutEnd,
  type RolloutKey,
  type RolloutStart,
  type RunEvent,
  type Usage,
  UsageError,
} from "../core/index.ts";
import { type Extent, jsonLine, readExtents, scanLines } from "../files/index.ts";
import { keyText } from "./finished.ts";
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
};

/** The type comes first, then the key, so that a scan can tell lines apart without parsing them. */
export function journalLine(event: RunEvent): string {
  const { type, ...rest } = event;
  if (event.type === "run-start") return jsonLine({ type, version: FORMAT_VERSION, ...rest });
  if (!("queryId" in event)) return jsonLine({ type, ...rest });
  const { type: _type, dataset, queryId, rollout, ...more } = withoutOpening(event);
  return jsonLine({ type, dataset, queryId, rollout, ...more });
}

/** The query has it, and an event that is told need not be written. */
function withoutOpening<E extends RunEvent>(event: E): E {
  return event.type === "rollout-start" && event.opening ? { ...event, opening: undefined } : event;
}

type Open = {
  attempt: number;
  fingerprint: string;
  extents: Extent[];
  sent?: Map<string, string>;
  end?: Outcome;
};

const NOTHING_SENT: ReadonlyMap<string, string> = new Map();

/**
 * Rollouts that were cut off or failed, with the entries of their latest attempt, and where the last complete
 * line ends. Only the positions of open rollouts' entries are held in memory.
 */
export function scanJournal(file: string): { unfinished: Map<string, Unfinished>; completeBytes: number } {
  const open = new Map<string, Open>();
  const completeBytes = scanJournalLines(file, ({ type, key, index, extent, event }) => {
    if (type === "entry-end") {
      const extents = open.get(key)?.extents;
      if (extents?.length === index) extents.push(extent); // what follows a gap cannot be continued
    } else if (type === "rollout-start") {
      const { continued, attempt, fingerprint } = event() as RolloutStart;
      const before = continued > 0 ? open.get(key) : undefined;
      const extents = before?.extents.slice(0, continued) ?? [];
      open.set(key, { attempt, fingerprint, extents, sent: before?.sent });
    } else if (type === "call-start") {
      const begun = open.get(key);
      const { callId, key: idempotencyKey } = event() as CallStart;
      if (begun) begun.sent = (begun.sent ?? new Map()).set(callId, idempotencyKey);
    } else if (type === "rollout-end") {
      const begun = open.get(key);
      const { outcome } = event() as RolloutEnd;
      if (begun && outcome.stopReason === "infrastructure") begun.end = outcome;
      else open.delete(key);
    }
  });
  const unfinished = new Map<string, Unfinished>();
  for (const [key, { attempt, fingerprint, extents, sent, end }] of open) {
    unfinished.set(keyText(keyOf(key)), {
      // an attempt that was cut off does not count as one, nor does a failure that is not the rollout's own
      attempts: end && end.own !== false ? attempt : attempt - 1,
      failed: end !== undefined,
      fingerprint,
      recorded: extents.length,
      sent: sent ?? NOTHING_SENT,
      get entries() {
        return extents.length > 0 ? readEntries(file, extents) : [];
      },
    });
  }
  return { unfinished, completeBytes };
}

export type JournalLine = {
  type: RunEvent["type"];
  /** the key's members as they are in the line; the same text for the same key; "" if a line has none */
  key: string;
  /** of an entry */
  index: number;
  extent: Extent;
  /** only for a reply or a verdict */
  usage(): Usage | undefined;
  event(): RunEvent;
};

/** Calls back for each line that is one of ours, and returns where the last complete one ends. */
export function scanJournalLines(file: string, onLine: (line: JournalLine) => void): number {
  return scanLines(file, ({ bytes, offset, length, number }) => {
    const type = typeOf(bytes);
    if (!type) return;
    const extent = { offset, length };
    const event = () => JSON.parse(bytes.toString("utf8")) as RunEvent;
    const usage = () => usageIn(bytes);
    if (type === "entry-end") {
      const end = bytes.indexOf(INDEX, KEY_START);
      if (end === -1) return;
      const index = Number.parseInt(bytes.toString("latin1", end + INDEX.length, end + INDEX.length + 9), 10);
      onLine({ type, key: bytes.toString("latin1", KEY_START + type.length, end), index, extent, usage, event });
      return;
    }
    const parsed = parseJson(bytes.toString("utf8")) as RunEvent | undefined;
    if (!parsed) return;
    if (type === "run-start") refuseNewer(parsed, { file, line: number });
    onLine({ type, key: "queryId" in parsed ? textOf(parsed) : "", index: -1, extent, usage, event: () => parsed });
  });
}

const TYPES: ReadonlySet<string> = new Set<RunEvent["type"]>([
  ...(["entry-end", "rollout-start", "rollout-end", "call-start"] as const),
  ...(["run-start", "run-end", "run-note", "endpoint-wait"] as const),
]);
/** Where the key starts in a line, minus the length of the type: after `{"type":"",` */
const KEY_START = 11;
const TYPE_START = 9;
const INDEX = Buffer.from(',"index":');

/** A power loss can leave a line of zeros, or half a line: it has no type. */
function typeOf(bytes: Buffer): RunEvent["type"] | undefined {
  if (bytes[bytes.length - 1] !== 125) return undefined;
  const type = bytes.toString("latin1", TYPE_START, bytes.indexOf(34, TYPE_START));
  return TYPES.has(type) ? (type as RunEvent["type"]) : undefined;
}

/** The key as it is in an entry's line. */
function textOf(event: RolloutKey): string {
  const { dataset, queryId, rollout } = event;
  return Buffer.from(jsonLine({ dataset, queryId, rollout }).slice(1, -2)).toString("latin1");
}

function keyOf(text: string): RolloutKey {
  return JSON.parse(`{${Buffer.from(text, "latin1").toString("utf8")}}`) as RolloutKey;
}

const USAGE = Buffer.from('"usage":{');

/** It is near the end of its line, after all texts. */
function usageIn(bytes: Buffer): Usage | undefined {
  const at = bytes.lastIndexOf(USAGE);
  if (at === -1) return undefined;
  return parseJson(bytes.toString("utf8", at + USAGE.length - 1, bytes.indexOf(125, at) + 1)) as Usage | undefined;
}

function refuseNewer(event: unknown, location: { file: string; line: number }): void {
  const version = isObject(event) ? Number(event.version ?? 1) : 1;
  if (version <= FORMAT_VERSION) return;
  throw new UsageError(
    `was written by a newer version of rollout (format ${version}, this one knows ${FORMAT_VERSION}); update rollout to continue this run`,
    location,
  );
}

/** As many as can be read, starting with the first. */
export function readEntries(file: string, extents: readonly Extent[]): Entry[] {
  const entries: Entry[] = [];
  for (const bytes of readExtents(file, extents)) {
    const line = parseJson(bytes.toString("utf8")) as EntryEnd | undefined;
    if (!line) break;
    entries.push(line.entry);
  }
  return entries;
}
