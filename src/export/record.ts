// One trajectory on its way out: our own lines, lines that `rollout label` wrote, and the original system's lines, read
// into one shape. Nothing is made up: what a line does not say is undefined.
import {
  contentHash,
  ExactNumber,
  isObject,
  type JsonObject,
  metadataOf,
  parseExact,
  rolloutId,
  type Trajectory,
  type TrajectoryMessage,
  writeExact,
} from "../core/index.ts";
import type { AnnotationWord } from "../runs/index.ts";

export type ExportRecord = Omit<Trajectory, "metadata" | "success"> & {
  /** whether it came to a regular end; undefined if unknown */
  success: boolean | undefined;
  /** the system prompt that was actually used; undefined if unknown */
  system: string | undefined;
  /** OpenAI function tools under the names that were actually called, their numbers exact; undefined if unknown */
  tools: JsonObject[] | undefined;
  metadata: Partial<Trajectory["metadata"]> & { [key: string]: unknown };
  /** its task score; undefined if it is unscored */
  score: number | undefined;
  /** whether its task's checks pass; undefined if it is unscored, or if its line has only a score */
  solved: boolean | undefined;
  /** the checks that decided it */
  decided_by: string[] | undefined;
  tags: string[];
  /** what people say about it, by its run's annotations.jsonl: for filters and transforms, not for rows */
  annotation?: { word: AnnotationWord; tags: string[]; by: string[] };
  /** fields that a transform adds to the row, in any format */
  extra: JsonObject;
  /** the line's other fields: kept in canonical rows only */
  rest: { [key: string]: unknown };
};

/** The record in a line, or a sentence that says why there is none. */
export function readRecord(line: unknown, dataset: string): ExportRecord | string {
  if (!isObject(line)) return "the line is not a JSON object";
  if (!Array.isArray(line.messages)) return "the line has no messages";
  const { id, query_id, rollout, dataset: named, domains, success, tools, system, ...others } = line;
  const { messages: _, metadata: __, score, solved, decided_by, tags, ...rest } = others;
  const messages: TrajectoryMessage[] = [];
  let prompt = typeof system === "string" ? system : undefined;
  for (const [index, raw] of line.messages.entries()) {
    if (isObject(raw) && (raw.role === "system" || raw.role === "developer")) {
      if (index > 0) return `message ${index + 1}: a system message in the middle`;
      prompt = text(raw.content);
    } else {
      const message = readMessage(raw);
      if (typeof message === "string") return `message ${index + 1}: ${message}`;
      messages.push(message);
    }
  }
  if (messages.length === 0) return "the line has no messages";
  const [queryId, number] = keyOf(
    id ?? contentHash(messages.find(({ role }) => role === "user") ?? {}),
    query_id,
    rollout,
  );
  const ownId = typeof id === "string" || typeof id === "number" ? String(id) : undefined;
  return {
    id: ownId ?? (query_id === undefined ? contentHash(messages) : rolloutId({ queryId, rollout: number })),
    query_id: queryId,
    rollout: number,
    dataset: typeof named === "string" ? named : dataset,
    domains: Array.isArray(domains) ? domains.map(String) : [],
    success: typeof success === "boolean" ? success : undefined,
    messages,
    system: prompt,
    tools: readTools(tools),
    metadata: withoutChecksum(metadataOf(line)),
    score: typeof score === "number" ? score : undefined,
    solved: typeof solved === "boolean" ? solved : undefined,
    decided_by: Array.isArray(decided_by) ? decided_by.map(String) : undefined,
    tags: Array.isArray(tags) ? tags.map(String) : [],
    extra: {},
    rest,
  };
}

/** It is of the line as it is in the run. */
function withoutChecksum(metadata: { [key: string]: unknown }): { [key: string]: unknown } {
  if (!isObject(metadata.timings) || metadata.timings.checksum === undefined) return metadata;
  const { checksum: _, ...timings } = metadata.timings;
  return { ...metadata, timings };
}

/** As `rollout label` and the canonical formats write it: the system prompt first among the messages, the tools as a field. */
export function toLine(record: ExportRecord): { [key: string]: unknown } {
  const { system, messages, extra, rest, score, solved, decided_by, tags, annotation, tools, metadata, ...head } =
    record;
  return {
    ...head,
    messages: system === undefined ? messages : [{ role: "system", content: system }, ...messages],
    tools,
    metadata: withFloatCosts(metadata),
    score: float(score),
    solved,
    decided_by,
    tags: tags.length > 0 ? tags : undefined,
    ...rest,
    ...extra,
  };
}

/** Always with a point: a column that is whole in some rows and not in others has two types to a loader. */
export function float<T>(value: T): T | ExactNumber {
  return Number.isInteger(value) ? new ExactNumber(Number(value).toFixed(1)) : value;
}

function withFloatCosts(metadata: ExportRecord["metadata"]): object {
  const { cost_usd, usage } = metadata;
  if (cost_usd === undefined && !isObject(usage)) return metadata;
  const parties = Object.entries(isObject(usage) ? usage : {}).map(([party, used]) => [
    party,
    isObject(used) && used.cost_usd !== undefined ? { ...used, cost_usd: float(used.cost_usd) } : used,
  ]);
  return {
    ...metadata,
    ...(usage === undefined ? {} : { usage: Object.fromEntries(parties) }),
    ...(cost_usd === undefined ? {} : { cost_usd: float(cost_usd) }),
  };
}

function readMessage(raw: unknown): TrajectoryMessage | string {
  if (!isObject(raw)) return "is not an object";
  if (raw.role === "user") return { role: "user", content: text(raw.content) };
  if (raw.role === "tool") {
    if (typeof raw.tool_call_id !== "string") return "a tool result without tool_call_id";
    return { role: "tool", content: text(raw.content), tool_call_id: raw.tool_call_id };
  }
  if (raw.role !== "assistant") return `the role ${JSON.stringify(raw.role)} is not known here`;
  const calls = Array.isArray(raw.tool_calls) ? raw.tool_calls.map(readCall) : [];
  if (calls.includes(undefined)) return "a tool call without a name";
  const message: TrajectoryMessage = { role: "assistant", content: text(raw.content) };
  if (typeof raw.reasoning_content === "string" && raw.reasoning_content !== "")
    message.reasoning_content = raw.reasoning_content;
  if (calls.length > 0) message.tool_calls = calls as NonNullable<typeof message.tool_calls>;
  return message;
}

type RecordedCall = { id: string; type: "function"; function: { name: string; arguments: string } };

function readCall(raw: unknown): RecordedCall | undefined {
  const call = isObject(raw) && isObject(raw.function) ? raw.function : undefined;
  if (!isObject(raw) || typeof call?.name !== "string") return undefined;
  const given = call.arguments ?? "";
  return {
    id: typeof raw.id === "string" ? raw.id : "",
    type: "function",
    function: { name: call.name, arguments: typeof given === "string" ? given : writeExact(given) },
  };
}

/** As a list or as its JSON text; some labelling scripts write the parameters as text too. */
function readTools(tools: unknown): JsonObject[] | undefined {
  const list = typeof tools === "string" ? parseExact(tools) : tools;
  if (!Array.isArray(list) || !list.every(isObject)) return undefined;
  return (list as JsonObject[]).map((tool) => {
    if (!isObject(tool.function) || typeof tool.function.parameters !== "string") return tool;
    const parameters = parseExact(tool.function.parameters) ?? {};
    return { ...tool, function: { ...tool.function, parameters } } as JsonObject;
  });
}

/** The original system has ids only, or none; `x#2` is the third rollout of x in ours. */
function keyOf(id: unknown, queryId: unknown, rollout: unknown): [string, number] {
  if (typeof queryId === "string") return [queryId, typeof rollout === "number" ? rollout : 0];
  const [, query = "", number] = /^(.*?)(?:#(\d+))?$/s.exec(String(id ?? "")) ?? [];
  return [query, typeof rollout === "number" ? rollout : Number(number ?? 0)];
}

function text(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content.map((part) => (isObject(part) && typeof part.text === "string" ? part.text : "")).join("");
}
