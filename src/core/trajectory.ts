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

export type UsageRecord = {
  calls: number;
  input_tokens: number;
  output_tokens: number;
  cached_tokens: number;
  reasoning_tokens: number;
  cost_usd: number;
};

export type Trajectory = RecordKey & {
  domains: string[];
  /** the dialogue came to a regular end: people read *ended*; whether the task is *solved* is a score */
  success: boolean;
  messages: TrajectoryMessage[];
  other_calls?: OtherCall[];
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
    cost_usd: number;
    models: { agent: string; user?: string; judge?: string };
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
    faults: { type: string; [detail: string]: string }[];
    attempt: number;
    /** made with different settings than earlier records of the run, with --allow-drift */
    drift?: boolean;
    timings: { started_at: string; ended_at: string; duration_ms: number };
  };
};
