// The append-only log of a run. Read back, it gives the entries of every rollout that did not finish.
import {
  type Entry,
  isObject,
  NO_USAGE,
  type Outcome,
  parseJson,
  type RolloutEnd,
  type RolloutKey,
  type RolloutStart,
  type RunEvent,
  rolloutId,
  type Usage,
  UsageError,
} from "../core/index.ts";
import { type Extent, jsonLine, readExtents, scanLines } from "../files/index.ts";
import type { DamagedLine } from "./damage.ts";
import { bodyOf, isBlank, parseLine } from "./examine-record.ts";
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
  /** how it ended, if only its record is missing; undefined if entries are missing too */
  ended?: Outcome;
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
  key: RolloutKey;
  attempt: number;
  fingerprint: string;
  extents: Extent[];
  end?: Outcome;
  /** that it had when it ended */
  entries?: number;
};

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
        open.set(key, { key: { dataset, queryId, rollout }, attempt, fingerprint, extents });
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
export function scanJournalLines(
  file: string,
  onLine: (line: JournalLine) => void,
  onDamage: (line: DamagedLine) => void = () => {},
): number {
  return scanLines(file, ({ bytes: line, offset, length, number }) => {
    const bytes = bodyOf(line);
    const extent = { offset, length };
    const damage = (reason: string) => onDamage({ ...extent, number, reason });
    const type = typeOf(bytes);
    if (!type) {
      const value = isBlank(bytes) ? undefined : parseLine(bytes);
      if (value !== undefined && (typeof value === "string" || typeof value.type !== "string"))
        damage(typeof value === "string" ? value : "is not an event");
      return; // another type is a newer version's
    }
    const event = () => JSON.parse(bytes.toString("utf8")) as RunEvent;
    const usage = () => usageIn(bytes);
    if (type === "entry-end") {
      const end = bytes.indexOf(INDEX, KEY_START);
      if (end === -1) return damage("is not an event");
      const index = Number.parseInt(bytes.toString("latin1", end + INDEX.length, end + INDEX.length + 9), 10);
      onLine({ type, key: bytes.toString("latin1", KEY_START + type.length, end), index, extent, usage, event });
      return;
    }
    const parsed = parseLine(bytes) as RunEvent | string;
    if (typeof parsed === "string") return damage(parsed);
    if (!isWhole(parsed)) return damage("is not a whole event");
    if (type === "run-start") refuseNewer(parsed, { file, line: number });
    onLine({ type, key: "queryId" in parsed ? textOf(parsed) : "", index: -1, extent, usage, event: () => parsed });
  });
}

const TYPES: ReadonlySet<string> = new Set<RunEvent["type"]>([
  ...(["entry-end", "rollout-start", "rollout-end", "run-start", "run-end", "run-note", "endpoint-wait"] as const),
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

const USAGE = Buffer.from('"usage":{');

/** It is near the end of its line, after all texts. */
function usageIn(bytes: Buffer): Usage | undefined {
  const at = bytes.lastIndexOf(USAGE);
  if (at === -1) return undefined;
  const usage = parseJson(bytes.toString("utf8", at + USAGE.length - 1, bytes.indexOf(125, at) + 1));
  return isUsage(usage) ? (usage as Usage) : undefined;
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
    const line = parseLine(bodyOf(bytes));
    if (typeof line === "string" || !isEntry(line.entry)) break;
    entries.push(line.entry as unknown as Entry);
  }
  return entries;
}

/** Whether an event has what is read of it. */
function isWhole(event: unknown): boolean {
  if (!isObject(event)) return false;
  const { type, dataset, queryId, rollout, attempt, fingerprint, continued, outcome, datasets, at, message } = event;
  if (Number.isNaN(Date.parse(String(at)))) return false;
  if (type === "run-start") return Array.isArray(datasets) && datasets.every(isObject);
  if (type !== "rollout-start" && type !== "rollout-end") return isTextOrNone(message);
  if (typeof dataset !== "string" || typeof queryId !== "string" || !Number.isSafeInteger(rollout)) return false;
  if (type === "rollout-end") return isOutcome(outcome);
  return Number.isSafeInteger(attempt) && Number.isSafeInteger(continued) && typeof fingerprint === "string";
}

function isOutcome(outcome: unknown): boolean {
  return (
    isObject(outcome) &&
    typeof outcome.stopReason === "string" &&
    isTextOrNone(outcome.message) &&
    isTextOrNone(outcome.kind)
  );
}

function isTextOrNone(value: unknown): boolean {
  return value === undefined || typeof value === "string";
}

function isEntry(entry: unknown): boolean {
  if (!isObject(entry)) return false;
  const { type, by, content, toolCalls, usage, callId, isError, stop, reason } = entry;
  if (type === "tool-result")
    return typeof callId === "string" && typeof content === "string" && typeof isError === "boolean";
  if (type === "verdict") return typeof stop === "boolean" && typeof reason === "string" && isUsage(usage);
  const isReply = type === "reply" && (by === "agent" || by === "user") && typeof content === "string";
  return isReply && isUsage(usage) && Array.isArray(toolCalls) && toolCalls.every(isToolCall);
}

function isUsage(usage: unknown): boolean {
  if (!isObject(usage)) return false;
  const names = Object.keys(usage);
  return names.length === 0 || Object.keys(NO_USAGE).every((name) => typeof usage[name] === "number");
}

function isToolCall(call: unknown): boolean {
  return (
    isObject(call) && typeof call.id === "string" && typeof call.name === "string" && typeof call.arguments === "string"
  );
}
