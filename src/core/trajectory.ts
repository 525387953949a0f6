// The record of a finished rollout, one JSON line: the shape that users already have, with its evidence added.
import type { CallParty } from "./environment.ts";
import type { TrajectoryMessage } from "./message.ts";
import type { Served } from "./model.ts";
import type { Outcome, StopReason } from "./outcome.ts";
import type { Mode, RecordKey } from "./query.ts";

/** A call that the agent neither made nor saw: the user's, with its own tools, or the setup's. */
export type OtherCall = {
  party: CallParty;
  /** how many of the messages came before it */
  after: number;
  id: string;
  name: string;
  arguments: string;
  content: string;
  is_error: boolean;
};

/** What stood for the messages before it in the agent's context from there on. */
export type ContextSummary = {
  /** how many of the messages came before it */
  after: number;
  content: string;
};

export type UsageRecord = {
  calls: number;
  input_tokens: number;
  output_tokens: number;
  cached_tokens: number;
  reasoning_tokens: number;
  /** null: not known */
  cost_usd: number | null;
};

export type Trajectory = RecordKey & {
  domains: string[];
  /** the dialogue came to a regular end: people read *ended*; whether the task is *solved* is a score */
  success: boolean;
  messages: TrajectoryMessage[];
  other_calls?: OtherCall[];
  summaries?: ContextSummary[];
  metadata: {
    total_turns: number;
    stop_reason: StopReason;
    blame?: Outcome["blame"];
    message?: string;
    tool_call_count: number;
    tool_error_count: number;
    /** the calls whose results are errors */
    tool_errors: string[];
    mode: Mode;
    usage: { [party: string]: UsageRecord };
    /** null: not known; the known part and the models without a price are then next to it */
    cost_usd: number | null;
    cost_known_usd?: number;
    cost_unknown_of?: string[];
    models: { agent: string; user?: string; judge?: string; summary?: string };
    /** how the agent's tools, calls and results were written on the wire, and the user's; absent if natively */
    tool_format?: string;
    user_tool_format?: string;
    /** what the servers said about themselves, by party; ids are those of the replies, in order */
    served?: {
      [party: string]: { models?: string[]; fingerprints?: string[]; ids?: string[]; headers?: Served["headers"][] };
    };
    /** true if a scripted model took part: such a record is not a model's output */
    scripted: boolean;
    seed: number;
    fingerprint: string;
    system_hash: string;
    tools_hash: string;
    /** of the simulated user's own tools, if it has any */
    user_tools_hash?: string;
    /** how many messages the query began with, if there are calls among them */
    opening_messages?: number;
    final_state_hash: string;
    /** by call id: of the changes that were there after it, where a server's `state_after_writes` asks for them */
    state_hashes?: { [callId: string]: string };
    faults: { type: string; [detail: string]: string }[];
    attempt: number;
    /** made with different settings than earlier records of the run, with --allow-drift */
    drift?: boolean;
    timings: { started_at: string; ended_at: string; duration_ms: number };
  };
};

/** How many tokens models used, and how many a script did, which are estimates and in no total. */
export function countUsedTokens({ usage, models }: Pick<Trajectory["metadata"], "usage" | "models">): {
  tokens: number;
  scripted: number;
} {
  const used = { tokens: 0, scripted: 0 };
  for (const [party, { input_tokens, output_tokens }] of Object.entries(usage ?? {}))
    used[isScriptedParty(models, party) ? "scripted" : "tokens"] += (input_tokens ?? 0) + (output_tokens ?? 0);
  return used;
}

export function isScriptedParty(models: Trajectory["metadata"]["models"] | undefined, party: string): boolean {
  return String(models?.[party as "agent"]).startsWith("scripted/");
}
