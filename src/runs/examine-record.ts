// Whether a line of a record file is a record that can be relied on: complete, unchanged, and where it belongs.
import { isUtf8 } from "node:buffer";
import { isObject, type Json, parseJson, rolloutId, type Trajectory, toTrajectory } from "../core/index.ts";
import { isIntact, isUnchanged } from "./checksum.ts";
import { type FinishedRecord, readHead } from "./finished.ts";

export type RecordPlace = {
  dataset: string;
  /** in a file of one round: the number of its rollouts */
  rollout?: number;
  /** the file may hold other datasets' records: it is not in the run's folder */
  shared?: boolean;
};

export type ExaminedRecord = {
  record: FinishedRecord;
  /** it has a checksum, and it matches */
  sealed: boolean;
};

export const CHANGED = "does not match its checksum";
export const MISNAMED = "has an id that does not fit its query and rollout";

/** The record, or what is wrong with the line; undefined for a blank line. */
export function examineRecord(line: Buffer, place: RecordPlace): ExaminedRecord | string | undefined {
  const bytes = bodyOf(line);
  if (isBlank(bytes)) return undefined;
  const known = isIntact(bytes) ? readHead({ bytes }, place.dataset) : undefined;
  if (known) return misplaced(known, place) ?? { record: known, sealed: true };
  const value = parseLine(bytes);
  if (typeof value === "string") return value;
  const unchanged = isUnchanged(value);
  if (unchanged === false) return CHANGED;
  const record = readHead({ bytes }, place.dataset);
  if (!record) return "is not a record: it has no id";
  const fault = misfit(value) ?? misplaced(record, place) ?? (value.query_id === undefined ? undefined : broken(value));
  return fault ?? { record, sealed: unchanged === true };
}

export type ReadTrajectory = {
  trajectory: Trajectory;
  /** its checksum does not match: somebody edited it, or the disk did */
  changed: boolean;
};

/** A line as commands that only look at a run use it; what is wrong with it, or undefined for a blank one. */
export function readTrajectory(line: Buffer, dataset: string): ReadTrajectory | string | undefined {
  const bytes = bodyOf(line);
  if (isBlank(bytes)) return undefined;
  const value = parseLine(bytes);
  if (typeof value === "string") return value;
  const trajectory = toTrajectory(value, dataset);
  if (!trajectory) return "is not a record";
  const fault = misnamed(value) ?? broken(trajectory);
  if (fault !== undefined) return fault;
  const changed = !isIntact(bytes) && isUnchanged(value) === false;
  return { trajectory: withAbsent(trajectory), changed };
}

/** Without a byte order mark and the first half of a Windows line end, which editors add. */
export function bodyOf(bytes: Buffer): Buffer {
  const start = hasMark(bytes) ? MARK_BYTES : 0;
  return start === 0 && bytes.at(-1) !== 13 ? bytes : bytes.subarray(start, bytes.at(-1) === 13 ? -1 : undefined);
}

/** Of a byte order mark. */
export const MARK_BYTES = 3;

export function hasMark(bytes: Buffer): boolean {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
}

export function isBlank(bytes: Buffer): boolean {
  return bytes.length === 0 || (bytes.length < MAX_BLANK && bytes.toString("latin1").trim() === "");
}

const MAX_BLANK = 1000;
/** No text can be much longer. */
const MAX_LINE = 400 << 20;

/** The object in a line, or why there is none. */
export function parseLine(bytes: Buffer): { [key: string]: Json } | string {
  if (bytes.length > MAX_LINE) return `is larger than ${MAX_LINE >> 20} MB`;
  if (!isUtf8(bytes)) return "has bytes that are not UTF-8";
  const value = parseJson(bytes.toString("utf8"));
  if (value === undefined) return "is not valid JSON";
  return isObject(value) ? value : "is not a JSON object";
}

function misplaced({ dataset, rollout }: FinishedRecord, place: RecordPlace): string | undefined {
  if (dataset !== place.dataset && !place.shared) return `belongs to another dataset (${JSON.stringify(dataset)})`;
  if (place.rollout !== undefined && rollout !== place.rollout) return "belongs to another round";
  return undefined;
}

/** The original system's records have an id only; ours say the key twice, and both must be the same. */
function misfit(value: Record<string, unknown>): string | undefined {
  const { id, query_id, rollout, dataset, messages, metadata } = value;
  const isMessage = (message: unknown) => isObject(message) && typeof message.role === "string";
  if (!Array.isArray(messages) || !messages.every(isMessage)) return "has no list of messages";
  if (query_id === undefined) return typeof id === "string" ? undefined : "is not a record: it has no id";
  if (typeof query_id !== "string" || typeof dataset !== "string" || !isNumber(rollout)) return "has no whole key";
  if (!isObject(metadata) || typeof metadata.fingerprint !== "string") return "has no metadata";
  return misnamed(value);
}

function misnamed({ id, query_id, rollout }: Record<string, unknown>): string | undefined {
  if (typeof query_id !== "string" || !isNumber(rollout)) return undefined;
  return id === rolloutId({ queryId: query_id, rollout }) ? undefined : MISNAMED;
}

/** Whatever is there must be of its kind: commands count on it. */
function broken({ messages, metadata }: { messages?: unknown; metadata?: unknown }): string | undefined {
  if (!Array.isArray(messages) || !messages.every(isWhole)) return "has a broken message";
  return brokenMetadata(metadata);
}

export function brokenMetadata(metadata: unknown): string | undefined {
  for (const [name, isKind] of Object.entries(METADATA)) {
    const value = isObject(metadata) ? metadata[name] : undefined;
    if (value !== undefined && !isKind(value)) return `has broken metadata (${name})`;
  }
  return undefined;
}

function isWhole(message: unknown): boolean {
  if (!isObject(message) || typeof message.content !== "string") return false;
  const { tool_calls: calls, tool_call_id, reasoning_content, role } = message;
  if (role === "tool" && tool_call_id !== undefined && typeof tool_call_id !== "string") return false;
  if (reasoning_content !== undefined && typeof reasoning_content !== "string") return false;
  return calls === undefined || (Array.isArray(calls) && calls.every(isCall));
}

function isCall(call: unknown): boolean {
  const called = isObject(call) ? call.function : undefined;
  return isObject(called) && typeof called.name === "string" && typeof called.arguments === "string";
}

const isNumber = (value: unknown): value is number => typeof value === "number" && Number.isFinite(value);
const isCost = (value: unknown) => value === null || isNumber(value);
const isText = (value: unknown) => typeof value === "string";
const isListOf = (isKind: (value: unknown) => boolean) => (value: unknown) =>
  Array.isArray(value) && value.every(isKind);
const isTable = (isKind: (value: unknown) => boolean) => (value: unknown) =>
  isObject(value) && Object.values(value).every(isKind);

const METADATA: { [name: string]: (value: unknown) => boolean } = {
  ...{ total_turns: isNumber, tool_call_count: isNumber, tool_error_count: isNumber, cost_usd: isCost },
  ...{ stop_reason: isText, blame: isText, message: isText, mode: isText, attempt: isNumber, seed: isNumber },
  ...{ tool_errors: isListOf(isText), models: isTable(isText), faults: isListOf(isTable(isText)) },
  ...{ usage: isTable(isTable(isCost)), timings: isObject, scripted: (value) => typeof value === "boolean" },
};

function withAbsent(trajectory: Trajectory): Trajectory {
  const absent = Object.entries(ABSENT).filter(([name]) => !(name in trajectory.metadata));
  if (absent.length === 0) return trajectory;
  return { ...trajectory, metadata: { ...trajectory.metadata, ...Object.fromEntries(absent) } };
}

const ABSENT = {
  ...{ total_turns: 0, tool_call_count: 0, tool_error_count: 0, cost_usd: 0, stop_reason: "unknown", mode: "positive" },
  ...{ models: { agent: "unknown" }, faults: [], usage: {}, scripted: false, seed: 0, attempt: 1 },
  timings: { started_at: "unknown", ended_at: "unknown", duration_ms: 0 },
} as const;
