// How a rollout can end, and where its record then goes.

export type Blame = "agent" | "user" | "tool" | "judge" | "infrastructure";

/** Every stop reason with the `success` that it carries; `infrastructure` ends only in failures.jsonl. */
export const SUCCESS_OF = {
  user_stop: true,
  user_transfer: true,
  user_out_of_scope: true,
  agent_done: true,
  max_turns: true,
  max_no_tool_turns: true,
  repeated_calls: true,
  rule_detected: true,
  llm_judge: true,
  max_steps: false,
  too_many_tool_errors: false,
  empty_reply: false,
  truncated_reply: false,
  user_fault: false,
  context_overflow: false,
  content_filter: false,
  token_budget: false,
  cost_budget: false,
  time_limit: false,
  infrastructure: false,
} as const;

export type StopReason = keyof typeof SUCCESS_OF;

export type Outcome = { success: boolean; stopReason: StopReason; blame?: Blame; message?: string };

export function ended(stopReason: StopReason, details: { blame?: Blame; message?: string } = {}): Outcome {
  return { success: SUCCESS_OF[stopReason], stopReason, ...details };
}
