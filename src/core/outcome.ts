// How a rollout can end, and where its record then goes.

export type Blame = "agent" | "user" | "tool" | "judge" | "infrastructure";

/** The loop's own stop reasons, each with its `success`. Stop conditions add their own reasons. */
export const LOOP_REASONS = {
  user_stop: true,
  user_transfer: true,
  user_out_of_scope: true,
  llm_judge: true,
  max_steps: false,
  empty_reply: false,
  truncated_reply: false,
  /** the server could not parse what the agent wrote, twice */
  malformed_reply: false,
  /** the agent wrote a tool call as text, twice */
  text_call: false,
  user_fault: false,
  context_overflow: false,
  content_filter: false,
  /** recorded only in failures.jsonl */
  infrastructure: false,
} as const;

export type LoopReason = keyof typeof LOOP_REASONS;
/** Of the loop, or of a stop condition. */
export type StopReason = LoopReason | (string & {});

export type Outcome = {
  /** the dialogue came to a regular end: people read *ended*; whether the task is *solved* is a score */
  success: boolean;
  stopReason: StopReason;
  blame?: Blame;
  message?: string;
  /** the class of a failure: failures are counted by it */
  kind?: string;
  /** false: a failure that does not count as an attempt, because any other rollout would have met it too */
  own?: false;
};

export function endWith(stopReason: LoopReason, details: Pick<Outcome, "blame" | "message"> = {}): Outcome {
  return { success: LOOP_REASONS[stopReason], stopReason, ...details };
}
