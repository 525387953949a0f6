// A dialogue's turns and steps. A turn is a user message that the agent answers; a step is one agent reply with the tool
// results it caused.
import type { TrajectoryMessage } from "../../core/index.ts";

export type StepCounts = { turns: number; multiStepTurns: number; steps: number; parallelSteps: number };

/** Replies before the first user message are steps of no turn. */
export function countSteps(messages: readonly TrajectoryMessage[]): StepCounts {
  const counts = { turns: 0, multiStepTurns: 0, steps: 0, parallelSteps: 0 };
  let stepsOfTurn: number | undefined;
  for (const message of messages) {
    if (message.role === "user") stepsOfTurn = 0;
    if (message.role !== "assistant") continue;
    counts.steps++;
    if ((message.tool_calls?.length ?? 0) > 1) counts.parallelSteps++;
    if (stepsOfTurn === undefined) continue;
    stepsOfTurn++;
    if (stepsOfTurn === 1) counts.turns++;
    if (stepsOfTurn === 2) counts.multiStepTurns++;
  }
  return counts;
}
