// Records made elsewhere, by the original tool or other people's: found, read, and brought into the shape of our own.
// What a record does not say stays open; a line that is no record stops the command.
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import {
  isObject,
  type Location,
  MODES,
  parseJson,
  type RolloutKey,
  recordKey,
  type Trajectory,
  type TrajectoryMessage,
  UsageError,
  withExactNumbers,
  writeExact,
} from "../core/index.ts";
import { parseJsonAt, readLines } from "../files/index.ts";
import { FAILURES_FILE } from "../runs/index.ts";
import { SCORES_FILE } from "./scores.ts";

/** `scores`: the folder for their scores; a single file gets one of its own, so that files do not mix. */
type RecordFiles = { files: string[]; scores: string };

const NOT_RECORDS = new Set([
  ...["prompts.jsonl", "journal.jsonl", FAILURES_FILE, SCORES_FILE, "judgements.jsonl", "annotations.jsonl"],
]);

export function findRecordFiles(path: string, onNotice: (message: string) => void): RecordFiles {
  if (!statSync(path).isDirectory()) return { files: [path], scores: `${path.replace(/\.jsonl$/, "")}.scores` };
  const files = readdirSync(path)
    .filter((name) => name.endsWith(".jsonl") && !NOT_RECORDS.has(name))
    .sort()
    .map((name) => join(path, name))
    .filter((file) => {
      const isTaken = statSync(file).isFile() && holdsRecords(file);
      if (!isTaken) onNotice(`${file} holds no records and is left out`);
      return isTaken;
    });
  if (files.length === 0) throw new UsageError(`${path} holds no records (*.jsonl)`);
  return { files, scores: path };
}

/** By its first line; one that is not JSON is reported when it is read. */
function holdsRecords(file: string): boolean {
  for (const { bytes } of readLines(file)) {
    const text = textOf(bytes);
    if (text === "") continue;
    const line = parseJson(text);
    return line === undefined || (isObject(line) && Array.isArray(line.messages));
  }
  return false;
}

type ReadOptions = {
  /** the domain or combination that all of them belong to */
  dataset: string;
  servers: string[];
  hasQuery(id: string): boolean;
};

export function* readRecordFiles(
  files: readonly string[],
  { dataset, servers, hasQuery }: ReadOptions,
): Generator<Trajectory, void> {
  const taken = new Map<string, Set<number>>();
  for (const file of files) {
    for (const { bytes, number: line } of readLines(file)) {
      const text = textOf(bytes);
      if (text === "") continue;
      const record = requireRecord(parseJsonAt(text, { file, line }), { file, line });
      const { queryId, rollout } = keyOf(record, hasQuery);
      const own = taken.get(queryId) ?? new Set();
      taken.set(queryId, own);
      let number = rollout;
      while (own.has(number)) number++;
      own.add(number);
      const messages = readMessages(withExactNumbers(record, text).messages, { file, line });
      yield {
        ...record,
        ...recordKey({ dataset, queryId, rollout: number }),
        domains: servers,
        success: record.success === true,
        messages,
        metadata: readMetadata(record.metadata, messages),
      };
    }
  }
}

function textOf(bytes: Buffer): string {
  return bytes.toString("utf8").trim(); // also drops a byte order mark
}

type ForeignRecord = { [field: string]: unknown; messages: unknown[] };

function requireRecord(line: unknown, location: Location): ForeignRecord {
  if (!isObject(line)) throw new UsageError("a record must be a JSON object", location);
  if (!Array.isArray(line.messages)) throw new UsageError('a record needs "messages", a list', location);
  if (!isId(line.id) && !isId(line.query_id)) throw new UsageError('a record needs an "id", its query\'s', location);
  return line as ForeignRecord;
}

function isId(value: unknown): value is string | number {
  return typeof value === "number" || (typeof value === "string" && value !== "");
}

/** `x#2` is rollout 2 of x, unless a query is called that. */
function keyOf(
  { id, query_id, rollout }: ForeignRecord,
  hasQuery: ReadOptions["hasQuery"],
): Omit<RolloutKey, "dataset"> {
  const written = String(isId(query_id) ? query_id : id);
  const numbered = isId(query_id) || hasQuery(written) ? null : /^(.+)#(\d{1,9})$/s.exec(written);
  const [, queryId = written, number = 0] = numbered ?? [];
  const isNumber = Number.isSafeInteger(rollout) && (rollout as number) >= 0;
  return { queryId, rollout: isNumber ? (rollout as number) : Number(number) };
}

const count = z.number().min(0);

/** Values that we use, each replaced if it is missing or of another kind; the rest is kept as it is. */
const metadataSchema = z.looseObject({
  total_turns: count.optional().catch(undefined),
  tool_call_count: count.optional().catch(undefined),
  stop_reason: z.string().catch("unknown"),
  blame: z.enum(["agent", "user", "tool", "judge", "infrastructure"]).optional().catch(undefined),
  message: z.string().optional().catch(undefined),
  tool_errors: z.array(z.string()).optional().catch(undefined),
  mode: z.enum(MODES).catch("positive"),
  usage: z.record(z.string(), z.looseObject({ input_tokens: count, output_tokens: count })).catch({}),
  cost_usd: count.nullable().catch(0),
  cost_known_usd: count.optional().catch(undefined),
  cost_unknown_of: z.array(z.string()).optional().catch(undefined),
  models: z.record(z.string(), z.string()).catch({}),
  scripted: z.boolean().catch(false),
  seed: z.int().catch(0),
  final_state_hash: z.string().optional().catch(undefined),
  faults: z.array(z.record(z.string(), z.string())).catch([]),
});

/** Without the hashes and times that only our own records have. */
function readMetadata(given: unknown, messages: readonly TrajectoryMessage[]): Trajectory["metadata"] {
  const metadata = metadataSchema.parse(isObject(given) ? given : {});
  const calls = messages.flatMap((message) => (message.role === "assistant" ? (message.tool_calls ?? []) : []));
  return {
    ...metadata,
    total_turns: metadata.total_turns ?? messages.filter(({ role }) => role === "user").length,
    tool_call_count: metadata.tool_call_count ?? calls.length,
    models: { agent: "unknown", ...metadata.models },
  } as unknown as Trajectory["metadata"];
}

type Call = NonNullable<Extract<TrajectoryMessage, { role: "assistant" }>["tool_calls"]>[number];

/** A call's id may be missing, or used again in a later reply: here each has its own, and so has its result. */
function readMessages(list: readonly unknown[], location: Location): TrajectoryMessage[] {
  const messages: TrajectoryMessage[] = [];
  const used = new Set<string>();
  const unanswered: { written: unknown; id: string }[] = [];
  for (const [index, raw] of list.entries()) {
    const refuse = (reason: string) => new UsageError(`"messages[${index}]" ${reason}`, location);
    if (!isObject(raw)) throw refuse("must be an object");
    const content = readContent(raw.content);
    if (raw.role === "user") messages.push({ role: "user", content });
    else if (raw.role === "assistant") {
      const calls = (Array.isArray(raw.tool_calls) ? raw.tool_calls : []).map((made: unknown) => {
        const call = readCall(made, used);
        if (!call) throw refuse("has a tool call without a name");
        unanswered.push({ written: isObject(made) ? made.id : undefined, id: call.id });
        return call;
      });
      const { reasoning_content: reasoning } = raw;
      messages.push({
        role: "assistant",
        content,
        ...(typeof reasoning === "string" && reasoning !== "" ? { reasoning_content: reasoning } : {}),
        ...(calls.length > 0 ? { tool_calls: calls } : {}),
      });
    } else if (raw.role === "tool") {
      const written = raw.tool_call_id ?? undefined;
      const at =
        written === undefined ? 0 : unanswered.findLastIndex((call) => String(call.written) === String(written));
      const [call] = at === -1 ? [] : unanswered.splice(at, 1);
      if (call) messages.push({ role: "tool", content, tool_call_id: call.id }); // else it answers nothing
    } else if (raw.role !== "system" && raw.role !== "developer") {
      throw refuse(`has the role ${JSON.stringify(raw.role)}; known are system, user, assistant and tool`);
    }
  }
  return messages;
}

function readCall(made: unknown, used: Set<string>): Call | undefined {
  const called = isObject(made) && isObject(made.function) ? made.function : made;
  if (!isObject(made) || !isObject(called) || typeof called.name !== "string") return undefined;
  const written = isId(made.id) ? String(made.id) : "call";
  let id = written;
  for (let n = 2; used.has(id); n++) id = `${written}~${n}`;
  used.add(id);
  const { name, arguments: args } = called;
  return {
    id,
    type: "function",
    function: { name, arguments: typeof args === "string" ? args : writeExact(args ?? {}) },
  };
}

/** A text, a list of parts that are texts, or a value. */
function readContent(content: unknown): string {
  if (typeof content === "string") return content;
  if (content === null || content === undefined) return "";
  const isText = (part: unknown) => isObject(part) && part.type === "text" && typeof part.text === "string";
  const isParts = Array.isArray(content) && content.length > 0 && content.every(isText);
  return isParts ? content.map(({ text }) => text).join("") : writeExact(content);
}
