// Records as the original system writes them: what ours keep in `metadata` is at the top level, under its own names.
import { isObject } from "./json.ts";
import type { TrajectoryMessage } from "./message.ts";
import type { Trajectory } from "./trajectory.ts";

/** The original's stop reasons that have other names here; a token does not say which, other fields do. */
export const ORIGINAL_REASONS: { [reason: string]: readonly string[] } = {
  user_token: ["user_stop", "user_transfer", "user_out_of_scope"],
  user_stop_token: ["user_stop", "user_transfer", "user_out_of_scope"],
  max_turns_reached: ["max_turns"],
};

/** A record's metadata; for one of the original's, what its top level says. */
export function metadataOf(record: Record<string, unknown>): { [key: string]: unknown } {
  const own = isObject(record.metadata) ? record.metadata : {};
  const stop_reason = own.stop_reason ?? originalReason(record);
  if (isObject(record.metadata)) return own.stop_reason === stop_reason ? own : { ...own, stop_reason };
  const { total_turns } = record;
  return {
    ...(typeof total_turns === "number" ? { total_turns } : {}),
    ...(stop_reason === undefined ? {} : { stop_reason }),
  };
}

/** A line of a records file; one of the original's gets what ours have and it does not say, as unknown or nothing. */
export function toTrajectory(record: unknown, dataset: string): Trajectory | undefined {
  if (!isObject(record)) return undefined;
  if (isObject(record.metadata)) return record as unknown as Trajectory;
  if (!Array.isArray(record.messages) || typeof record.id !== "string") return undefined;
  const messages = record.messages.map((message) => ({
    ...message,
    content: message?.content ?? "",
    ...(Array.isArray(message?.tool_calls) && { tool_calls: message.tool_calls.map(withTextArguments) }),
  }));
  const calls = (messages as { tool_calls?: unknown[] }[]).flatMap(({ tool_calls }) => tool_calls ?? []);
  return {
    ...{ id: record.id, query_id: record.id, rollout: 0, dataset, domains: [] },
    success: record.success === true,
    messages: messages as TrajectoryMessage[],
    metadata: { ...NOT_SAID, tool_call_count: calls.length, ...metadataOf(record) },
  };
}

function withTextArguments(call: unknown): unknown {
  const called = isObject(call) ? call.function : undefined;
  if (!isObject(call) || !isObject(called) || typeof called.arguments === "string") return call;
  return { ...call, function: { ...called, arguments: JSON.stringify(called.arguments ?? {}) } };
}

const NOT_SAID: Trajectory["metadata"] = {
  ...{ total_turns: 0, stop_reason: "unknown", tool_call_count: 0, tool_error_count: 0, tool_errors: [] },
  ...{ mode: "positive", usage: {}, cost_usd: 0, models: { agent: "unknown" }, scripted: false, seed: 0 },
  ...{ fingerprint: "", system_hash: "", tools_hash: "", final_state_hash: "", faults: [], attempt: 1 },
  timings: { started_at: "unknown", ended_at: "unknown", duration_ms: 0 },
};

function originalReason(record: Record<string, unknown>): string | undefined {
  const { stop_reason, transferred, out_of_scope, reached_max_turns } = record;
  if (typeof stop_reason !== "string") return reached_max_turns === true ? "max_turns" : undefined;
  const [first = stop_reason, transfer = first, scope = first] = ORIGINAL_REASONS[stop_reason] ?? [];
  return transferred === true ? transfer : out_of_scope === true ? scope : first;
}
