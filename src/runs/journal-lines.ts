// The lines of a journal, told apart without parsing what need not be, and what makes an event or an entry whole.
import {
  type Entry,
  isObject,
  NO_USAGE,
  parseJson,
  type RolloutEnd,
  type RolloutKey,
  type RolloutStart,
  type RunEvent,
  type Usage,
  UsageError,
} from "../core/index.ts";
import { type Extent, jsonLine, type Line, readExtents, scanLines } from "../files/index.ts";
import type { DamagedLine } from "./damage.ts";
import { bodyOf, isBlank, parseLine } from "./examine-record.ts";
import { FORMAT_VERSION } from "./manifest.ts";

export type JournalLine = {
  type: RunEvent["type"];
  /** the key's members as they are in the line; the same text for the same key; "" if a line has none */
  key: string;
  /** of an entry */
  index: number;
  extent: Extent;
  /** without its newline; valid until the next line is read */
  bytes: Buffer;
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
  return scanLines(file, (line) => {
    const read = readJournalLine(line, file);
    const { offset, length, number } = line;
    if (typeof read === "string") onDamage({ offset, length, number, reason: read });
    else if (read) onLine(read);
  });
}

/** What a line holds, or what is wrong with it; undefined if it is blank or of a newer version. Valid until the next line. */
export function readJournalLine(
  { bytes: line, offset, length, number }: Line,
  file: string,
): JournalLine | string | undefined {
  const bytes = bodyOf(line);
  const extent = { offset, length };
  const type = typeOf(bytes);
  if (!type) {
    const value = isBlank(bytes) ? undefined : parseLine(bytes);
    if (value === undefined || (typeof value !== "string" && typeof value.type === "string")) return undefined;
    return typeof value === "string" ? value : "is not an event";
  }
  const event = () => JSON.parse(bytes.toString("utf8")) as RunEvent;
  const usage = () => usageIn(bytes);
  if (type === "entry-end") {
    const end = bytes.indexOf(INDEX, KEY_START);
    if (end === -1) return "is not an event";
    const index = Number.parseInt(bytes.toString("latin1", end + INDEX.length, end + INDEX.length + 9), 10);
    return { type, key: bytes.toString("latin1", KEY_START + type.length, end), index, extent, bytes, usage, event };
  }
  const parsed = parseLine(bytes) as RunEvent | string;
  if (typeof parsed === "string") return parsed;
  if (!isWhole(parsed)) return "is not a whole event";
  if (type === "run-start") refuseNewer(parsed, { file, line: number });
  return {
    type,
    key: "queryId" in parsed ? journalKeyText(parsed) : "",
    index: -1,
    extent,
    bytes,
    usage,
    event: () => parsed,
  };
}

const TYPES: ReadonlySet<string> = new Set<RunEvent["type"]>([
  ...([
    "entry-end",
    "rollout-start",
    "rollout-end",
    "call-start",
    "run-start",
    "run-end",
    "run-note",
    "endpoint-wait",
  ] as const),
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
export function journalKeyText(event: RolloutKey): string {
  const { dataset, queryId, rollout } = event;
  return Buffer.from(jsonLine({ dataset, queryId, rollout }).slice(1, -2)).toString("latin1");
}

const USAGE = Buffer.from('"usage":{');

/** It is near the end of its line, after all texts. */
function usageIn(bytes: Buffer): Usage | undefined {
  const at = bytes.lastIndexOf(USAGE);
  if (at === -1) return undefined;
  const text = (end: number) => bytes.toString("utf8", at + USAGE.length - 1, end + 1);
  let end = bytes.indexOf(125, at);
  let usage = parseJson(text(end));
  // the name of a model may hold a brace
  for (; usage === undefined && end !== -1; usage = parseJson(text(end))) end = bytes.indexOf(125, end + 1);
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

/** What a journal tells about one attempt: its start, its entries and, if it ended, its end, by their places. */
export type RecordedAttempt = { start?: RolloutStart; entries: Entry[]; end?: RolloutEnd };

export function readAttempt(file: string, places: readonly Extent[]): RecordedAttempt {
  const found: RecordedAttempt = { entries: [] };
  for (const bytes of readExtents(file, places)) {
    const line = parseLine(bodyOf(bytes));
    if (typeof line === "string") break; // the file was put there anew
    if (line.type === "rollout-start" && isWhole(line)) found.start ??= line as unknown as RolloutStart;
    else if (line.type === "rollout-end" && isWhole(line)) found.end = line as unknown as RolloutEnd;
    else if (line.type === "entry-end" && isEntry(line.entry)) {
      found.entries.push(line.entry as unknown as Entry);
      found.end = undefined; // it went on after that
    } else break;
  }
  return found;
}

/** Whether an event has what is read of it. */
function isWhole(event: unknown): boolean {
  if (!isObject(event)) return false;
  const { type, dataset, queryId, rollout, attempt, fingerprint, continued, outcome, datasets, at, message } = event;
  if (type === "call-start") return typeof event.callId === "string" && typeof event.key === "string";
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
  const isReply = type === "summary" || (type === "reply" && (by === "agent" || by === "user"));
  return (
    isReply && typeof content === "string" && isUsage(usage) && Array.isArray(toolCalls) && toolCalls.every(isToolCall)
  );
}

function isUsage(usage: unknown): boolean {
  if (!isObject(usage)) return false;
  const names = Object.keys(usage);
  return names.length === 0 || Object.keys(NO_USAGE).every((name) => isAmount(name, usage[name]));
}

/** What something cost may be unknown. */
function isAmount(name: string, value: unknown): boolean {
  return typeof value === "number" || (name === "costUsd" && value === null);
}

function isToolCall(call: unknown): boolean {
  return (
    isObject(call) && typeof call.id === "string" && typeof call.name === "string" && typeof call.arguments === "string"
  );
}
