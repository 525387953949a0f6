// The fields that sets of plain questions have in their records, in addition to our own.
import type { Json, Outcome, Query, TrajectoryMessage } from "../core/index.ts";
import { finalAnswer } from "../scoring/index.ts";

export type QuestionFields = {
  question: string;
  answer: Json;
  rollout_id: number;
  prediction: string;
  /** "answer", or how it ended otherwise */
  termination: string;
};

export function questionFields(
  query: Query,
  messages: readonly TrajectoryMessage[],
  outcome: Outcome,
  rollout: number,
): QuestionFields {
  const last = messages.findLast((message) => message.role === "assistant" && !message.tool_calls?.length);
  return {
    question: query.messages.findLast((message) => message.role === "user")?.content ?? "",
    answer: (query.taskInfo.answer ?? null) as Json,
    rollout_id: rollout,
    prediction: finalAnswer(last?.content ?? ""),
    termination: outcome.stopReason === "agent_done" ? "answer" : outcome.stopReason,
  };
}
