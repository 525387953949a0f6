// What the table shows of one record, read without parsing its dialogue: the key at the start of the line, the metadata
// at its end, and the names of the tools that were called.
import { type Blame, countUsedTokens, isObject, parseJson, type Trajectory, toTrajectory } from "../core/index.ts";
import { bodyOf, brokenMetadata, isBlank, readHead } from "../runs/index.ts";
import type { Names } from "./names.ts";

export type RolloutRow = {
  dataset: string;
  queryId: string;
  rollout: number;
  stopReason: string;
  /** it came to a regular end */
  ended: boolean;
  endBlame: Blame | undefined;
  turns: number;
  /** replies of the agent */
  steps: number;
  toolCalls: number;
  toolErrors: number;
  tokens: number;
  /** null: not known */
  costUsd: number | null;
  seconds: number;
  /** milliseconds since 1970; 0 if it is not known */
  endedAt: number;
  scripted: boolean;
  /** each kind once */
  faults: readonly string[];
  tools: readonly string[];
};

/** The row, or a sentence about the line; undefined for a blank one. */
export function readRow(line: Buffer, dataset: string, names: Names): RolloutRow | string | undefined {
  const bytes = bodyOf(line);
  if (isBlank(bytes)) return undefined;
  const head = readOwnHead(bytes) ?? readForeign(bytes, dataset);
  const metadata = head?.metadata ?? readMetadata(bytes);
  if (!head || !metadata) return "is not a record";
  if (isGlued(bytes) && parseJson(bytes.toString("utf8")) === undefined) return "is not a record";
  const fault = brokenMetadata(metadata);
  if (fault) return fault;
  return {
    dataset: names.one(head.dataset),
    queryId: head.queryId,
    rollout: head.rollout,
    stopReason: names.one(String(metadata.stop_reason)),
    ended: head.ended,
    endBlame: metadata.blame,
    turns: numberIn(metadata.total_turns),
    steps: numberIn(metadata.usage?.agent?.calls) || countIn(bytes, ANSWERED),
    toolCalls: numberIn(metadata.tool_call_count),
    toolErrors: numberIn(metadata.tool_error_count),
    tokens: countUsedTokens(metadata).tokens,
    costUsd: metadata.cost_usd ?? null,
    seconds: numberIn(metadata.timings?.duration_ms) / 1000,
    endedAt: Date.parse(metadata.timings?.ended_at ?? "") || 0,
    scripted: metadata.scripted === true,
    faults: names.list(faultsOf(metadata)),
    tools: names.list(toolsIn(bytes)),
  };
}

type Metadata = Trajectory["metadata"];
type Head = Pick<RolloutRow, "dataset" | "queryId" | "rollout" | "ended"> & { metadata?: Metadata };

const SUCCESS = Buffer.from(',"success":');
const METADATA = Buffer.from('"metadata":{');
const CALLED = Buffer.from('"function":{"name":"');
const ANSWERED = Buffer.from('"role":"assistant"');
const QUOTE = 34;
const T = 116;
/** Longer keys than this are read the slow way. */
const MAX_HEAD = 4096;

/** Quotes inside texts are escaped, so none of these marks can be part of a text. */
function readOwnHead(bytes: Buffer): Head | undefined {
  const end = bytes.indexOf(SUCCESS);
  const head = end === -1 || end > MAX_HEAD ? undefined : parseJson(`${bytes.toString("utf8", 0, end)}}`);
  if (!isObject(head)) return undefined;
  const { dataset, query_id: queryId, rollout } = head;
  if (typeof dataset !== "string" || typeof queryId !== "string" || typeof rollout !== "number") return undefined;
  return { dataset, queryId, rollout, ended: bytes[end + SUCCESS.length] === T };
}

/** A torn record with the next one behind it has the head of the first and the metadata of the second. */
function isGlued(bytes: Buffer): boolean {
  const first = bytes.indexOf(SUCCESS);
  return first !== -1 && bytes.indexOf(SUCCESS, first + 1) !== -1;
}

/** A line that another program wrote, or an earlier version: parsed whole. */
function readForeign(bytes: Buffer, dataset: string): Head | undefined {
  const key = readHead({ bytes }, dataset);
  const record = key && toTrajectory(parseJson(bytes.toString("utf8")), dataset);
  return record && { ...key, ended: record.success === true, metadata: record.metadata };
}

function readMetadata(bytes: Buffer): Metadata | undefined {
  const at = bytes.lastIndexOf(METADATA);
  const own = at === -1 ? undefined : parseJson(bytes.toString("utf8", at + METADATA.length - 1, bytes.length - 1));
  if (isObject(own)) return own as Metadata;
  return toTrajectory(parseJson(bytes.toString("utf8")), "")?.metadata;
}

function toolsIn(bytes: Buffer): string[] {
  const found: string[] = [];
  for (let at = bytes.indexOf(CALLED); at !== -1; at = bytes.indexOf(CALLED, at)) {
    at += CALLED.length;
    const end = bytes.indexOf(QUOTE, at);
    if (end === -1) break;
    const name = bytes.toString("utf8", at, end);
    if (!found.includes(name)) found.push(name);
    at = end;
  }
  return found;
}

function countIn(bytes: Buffer, mark: Buffer): number {
  let count = 0;
  for (let at = bytes.indexOf(mark); at !== -1; at = bytes.indexOf(mark, at + mark.length)) count++;
  return count;
}

function faultsOf({ faults }: Metadata): string[] {
  return (Array.isArray(faults) ? faults : []).flatMap((fault) =>
    isObject(fault) && typeof fault.type === "string" ? [fault.type] : [],
  );
}

function numberIn(value: unknown): number {
  return typeof value === "number" && Number.isFinite(value) ? value : 0;
}
