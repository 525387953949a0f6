// The record of a finished rollout, one JSON line: the shape that users already have, with its evidence added.
import type { Served } from "./model.ts";
import type { Outcome, StopReason } from "./outcome.ts";
import type { Mode, RecordKey } from "./query.ts";

export type TrajectoryMessage =
  | { role: "user"; content: string }
  | {
      role: "assistant";
      content: string;
      reasoning_content?: string;
      tool_calls?: { id: string; type: "function"; function: { name: string; arguments: string } }[];
    }
  | { role: "tool"; content: string; tool_call_id: string };

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
