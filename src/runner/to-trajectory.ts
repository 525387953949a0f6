// A played rollout as the record that users get.
import {
  type Entry,
  isAside,
  type ModelParty,
  type Outcome,
  recordKey,
  type Served,
  sumUsage,
  type ToolSpec,
  type Trajectory,
  toCostRecord,
  type UsageRecord,
} from "../core/index.ts";
import { faultsOf, readUserText, toMessages, toOtherCalls, toSummaries } from "../dialogue/index.ts";
import type { PlannedRollout } from "./plan.ts";
import { questionFields } from "./question-fields.ts";
import { findTruncatedInput } from "./truncated-input.ts";

/** The result of a rollout. */
export type Played = {
  entries: readonly Entry[];
  outcome: Outcome;
  startedAt: number;
  endedAt: number;
  /** measured, and not the difference of the two, between which the clock may have been set */
  durationMs: number;
  tools: readonly ToolSpec[];
  toolsHash: string;
  userToolsHash?: string;
  stateHash: string;
};

export function toTrajectory(planned: PlannedRollout, played: Played): Trajectory {
  const { dataset, query, key } = planned;
  const { entries, outcome, tools, startedAt, endedAt, durationMs } = played;
  const { id, query_id, rollout, dataset: name } = recordKey(key);
  const { system, hash: systemHash } = dataset.systemOf(query);
  const sent = { system, tools, opening: query.messages, entries };
  const cutInput = dataset.agent.scripted ? [] : findTruncatedInput(sent);
  const messages = toMessages(query.messages, entries);
  const others = toOtherCalls(query, entries);
  const summaries = toSummaries(query.messages, entries);
  const errors = entries.flatMap((entry) =>
    entry.type === "tool-result" && !entry.by && entry.isError ? [entry.callId] : [],
  );
  const calls = entries.flatMap((entry) =>
    entry.type === "reply" && entry.by === "agent" ? [...entry.toolCalls, ...(entry.ignoredCalls ?? [])] : [],
  );
  const answered = { outcome, rollout: key.rollout, answerFormat: dataset.spec.answerFormat };
  return {
    id,
    query_id,
    rollout,
    dataset: name,
    domains: dataset.domain.servers,
    success: outcome.success,
    messages,
    ...(others.length > 0 && { other_calls: others }),
    ...(summaries.length > 0 && { summaries }),
    ...(dataset.spec.rounds && questionFields(query, messages, answered)),
    metadata: {
      total_turns: countTurns(entries, ["user", "tool"].includes(query.messages.at(-1)?.role ?? "") ? 1 : 0),
      stop_reason: outcome.stopReason,
      blame: outcome.blame,
      message: outcome.message,
      tool_call_count: calls.length,
      tool_error_count: errors.length,
      tool_errors: errors,
      mode: dataset.spec.mode,
      usage: usageByParty(entries),
      ...toCostRecord(sumUsage(entries)),
      models: dataset.modelNames,
      ...toolFormats(dataset),
      served: servedByParty(entries),
      scripted: dataset.scripted || entries.some((entry) => entry.type === "reply" && entry.scripted === true),
      seed: planned.seed,
      fingerprint: planned.fingerprint,
      system_hash: systemHash,
      tools_hash: played.toolsHash,
      user_tools_hash: played.userToolsHash,
      opening_messages: query.messages.some(({ role }) => role === "tool") ? query.messages.length : undefined,
      final_state_hash: played.stateHash,
      state_hashes: stateHashesOf(entries),
      faults: [...sharedState(dataset), ...faultsOf(entries, query), ...cutInput],
      attempt: planned.attempt,
      drift: planned.drift || undefined,
      timings: {
        started_at: new Date(startedAt).toISOString(),
        ended_at: new Date(endedAt).toISOString(),
        duration_ms: durationMs,
      },
    },
  };
}

/** What was on the wire, where that is not the record's own shape. */
function toolFormats({ agent, user }: PlannedRollout["dataset"]) {
  const [own, others] = [agent.toolFormat, user?.toolFormat ?? "native"];
  return {
    ...(own !== "native" && { tool_format: own }),
    ...(others !== "native" && { user_tool_format: others }),
  };
}

/** Whatever other rollouts wrote there, this one may have seen. */
function sharedState({ spec, domain }: PlannedRollout["dataset"]): { type: string; server: string }[] {
  const servers = spec.mode === "positive" ? (domain.shared ?? []) : [];
  return servers.filter(({ writes }) => writes.length > 0).map(({ server }) => ({ type: "shared_state", server }));
}

/** User messages that the agent is asked to answer: the opening one, and each that does not end the dialogue. */
function countTurns(entries: readonly Entry[], opening: number): number {
  const asked = entries.filter(
    (entry) =>
      entry.type === "reply" &&
      entry.by === "user" &&
      !entry.rejected &&
      !isAside(entry) &&
      !readUserText(entry.content).end,
  );
  return opening + asked.length;
}

function usageByParty(entries: readonly Entry[]): { [party: string]: UsageRecord } {
  const parties: { [party: string]: UsageRecord } = {};
  for (const party of ["agent", "user", "judge", "summary"]) {
    const own = entries.filter((entry) => partyOf(entry) === party);
    if (own.length === 0) continue;
    const sum = sumUsage(own);
    parties[party] = {
      calls: own.length,
      input_tokens: sum.inputTokens,
      output_tokens: sum.outputTokens,
      cached_tokens: sum.cachedTokens,
      reasoning_tokens: sum.reasoningTokens,
      cost_usd: sum.costUsd,
    };
  }
  return parties;
}

function partyOf(entry: Entry): ModelParty | undefined {
  if (entry.type === "tool-result") return undefined;
  return entry.type === "reply" ? entry.by : entry.type === "verdict" ? "judge" : "summary";
}

/** Undefined where nobody asked for any. */
function stateHashesOf(entries: readonly Entry[]): Trajectory["metadata"]["state_hashes"] {
  const hashes = entries.flatMap((entry) =>
    entry.type === "tool-result" && entry.stateHash !== undefined ? [[entry.callId, entry.stateHash] as const] : [],
  );
  return hashes.length > 0 ? Object.fromEntries(hashes) : undefined;
}

/** Undefined where no server said anything, as scripted models do not. */
function servedByParty(entries: readonly Entry[]): Trajectory["metadata"]["served"] {
  const parties: NonNullable<Trajectory["metadata"]["served"]> = {};
  for (const party of ["agent", "user"] as const) {
    const served = entries.flatMap((entry) =>
      entry.type === "reply" && entry.by === party && entry.served ? [entry.served] : [],
    );
    const all = <M extends keyof Served>(member: M) =>
      served.flatMap((one) => (one[member] === undefined ? [] : [one[member]]));
    const list = <T>(values: T[]) => (values.length > 0 ? values : undefined);
    if (served.length === 0) continue;
    parties[party] = {
      models: list([...new Set(all("model"))]),
      fingerprints: list([...new Set(all("fingerprint"))]),
      ids: list(all("id")),
      headers: list(all("headers")),
    };
  }
  return Object.keys(parties).length > 0 ? parties : undefined;
}
