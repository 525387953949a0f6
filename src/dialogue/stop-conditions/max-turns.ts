import { z } from "zod";
import { defineStopCondition } from "./stop-condition.ts";

/** A one-turn dialogue is over when the agent has answered: that does not count as hitting a limit. */
export const maxTurns = defineStopCondition({
  key: "max_turns",
  schema: z.int().positive().default(20).describe("user messages that the agent answers; 1 needs no user"),
  reasons: { max_turns: true, agent_done: true },
  create:
    (limit) =>
    ({ turns, turnEnded }) =>
      turnEnded && turns >= limit ? { stopReason: limit === 1 ? "agent_done" : "max_turns" } : undefined,
});
