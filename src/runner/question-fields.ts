// The fields that sets of plain questions have in their records, in addition to our own.
import type { Json, Outcome, Query, TrajectoryMessage } from "../core/index.ts";
import { acceptedAnswers, readAnswer } from "../scoring/index.ts";

export type QuestionFields = {
  question: string;
  answer: Json;
  /** all accepted ones, where any of several is right */
  answers?: Json[];
  rollout_id: number;
  /** empty if the agent marked none in the format that was asked for */
  prediction: string;
  /** "answer", or how it ended otherwise */
  termination: string;
};

type Played = { outcome: Outcome; rollout: number; answerFormat: string | undefined };

export function questionFields(
  query: Query,
  messages: readonly TrajectoryMessage[],
  { outcome, rollout, answerFormat }: Played,
): QuestionFields {
  const last = messages.findLast((message) => message.role === "assistant" && !message.tool_calls?.length);
  const accepted = acceptedAnswers(query.taskInfo);
  return {
    question: query.messages.findLast((message) => message.role === "user")?.content ?? "",
    answer: accepted[0] ?? null,
    ...(accepted.length > 1 && { answers: accepted }),
    rollout_id: rollout,
    prediction: readAnswer(last?.content ?? "", answerFormat),
    termination: outcome.stopReason === "agent_done" ? "answer" : outcome.stopReason,
  };
}
