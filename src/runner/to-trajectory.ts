// A played rollout as the record that users get.
import {
  addUsage,
  type Entry,
  NO_USAGE,
  type Outcome,
  type Query,
  rolloutId,
  type ToolSpec,
  type Trajectory,
  type UsageRecord,
} from "../core/index.ts";
import { faultsOf, readUserText, toMessages, usageOf } from "../dialogue/index.ts";
import { questionFields } from "./multi.ts";
import type { PlannedRollout } from "./play-rollout.ts";
import type { PreparedDataset } from "./prepare.ts";
import { truncatedInput } from "./truncated-input.ts";

export type Played = {
  dataset: PreparedDataset;
  query: Query;
  planned: PlannedRollout;
  entries: Entry[];
  outcome: Outcome;
  startedAt: number;
  endedAt: number;
  tools: readonly ToolSpec[];
  toolsHash: string;
  stateHash: string;
};

export function toTrajectory({
  dataset,
  query,
  planned,
  entries,
  outcome,
  startedAt,
  endedAt,
  tools,
  toolsHash,
  stateHash,
}: Played): Trajectory {
  const { key } = planned;
  const sent = { system: dataset.agentSystem, tools, opening: query.messages, entries };
  const cutInput = dataset.agent.scripted ? [] : truncatedInput(sent);
  const messages = toMessages(query.messages, entries);
  const results = entries.filter((entry) => entry.type === "tool-result");
  const calls = entries.flatMap((entry) =>
    entry.type === "reply" && entry.by === "agent" ? [...entry.toolCalls, ...(entry.ignoredCalls ?? [])] : [],
  );
  return {
    id: rolloutId(key),
    query_id: key.queryId,
    rollout: key.rollout,
    dataset: key.dataset,
    domains: dataset.domain.servers,
    success: outcome.success,
    messages,
    ...(dataset.spec.rounds ? questionFields(query, messages, outcome, key.rollout) : {}),
    metadata: {
      total_turns: turnsOf(entries, query.messages.at(-1)?.role === "user" ? 1 : 0),
      stop_reason: outcome.stopReason,
      ...(outcome.blame ? { blame: outcome.blame } : {}),
      ...(outcome.message ? { message: outcome.message } : {}),
      tool_call_count: calls.length,
      tool_error_count: results.filter((result) => result.isError).length,
      mode: dataset.spec.mode,
      usage: usageByParty(entries),
      cost_usd: usageOf(entries).costUsd,
      models: dataset.modelNames,
      scripted: dataset.scripted || entries.some((entry) => entry.type === "reply" && entry.scripted === true),
      seed: planned.seed,
      fingerprint: planned.fingerprint,
      system_hash: dataset.systemHash,
      tools_hash: toolsHash,
      final_state_hash: stateHash,
      faults: [...faultsOf(entries), ...cutInput],
      attempt: planned.attempt,
      ...(planned.drift ? { drift: true as const } : {}),
      timings: {
        started_at: new Date(startedAt).toISOString(),
        ended_at: new Date(endedAt).toISOString(),
        duration_ms: endedAt - startedAt,
      },
    },
  };
}

/** User messages that the agent is asked to answer: the opening one, and each that does not end the dialogue. */
function turnsOf(entries: readonly Entry[], opening: number): number {
  const asked = entries.filter(
    (entry) => entry.type === "reply" && entry.by === "user" && !entry.rejected && !readUserText(entry.content).end,
  );
  return opening + asked.length;
}

function usageByParty(entries: readonly Entry[]): { [party: string]: UsageRecord } {
  const parties: { [party: string]: UsageRecord } = {};
  for (const party of ["agent", "user", "judge"]) {
    const own = entries.filter(
      (entry) => (entry.type === "reply" ? entry.by : entry.type === "verdict" ? "judge" : "") === party,
    );
    if (own.length === 0) continue;
    const sum = own.reduce(
      (total, entry) => (entry.type === "tool-result" ? total : addUsage(total, entry.usage)),
      NO_USAGE,
    );
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
