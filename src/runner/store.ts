// Where planned rollouts come from, and where what they record goes. A run on one machine has its plan and its folder; a
// worker of a queue has the queue for both. `Rollout` and `Workers` know only these.

import type { RunEvent, Trajectory } from "../core/index.ts";
import type { FailureRecord, PromptKeeper } from "../runs/index.ts";
import type { PlannedRollout } from "./plan.ts";

/** Where a rollout's events and its record go. The run folder is one; the queue another. */
export type RolloutStore = {
  /** Resolves when the event would survive a kill of this process. */
  record(event: RunEvent): Promise<void>;
  /** A record is kept once the rollout's end, which follows, is kept too. */
  finish(trajectory: Trajectory): Promise<void>;
  fail(failure: FailureRecord): Promise<void>;
  prompts: Pick<PromptKeeper, "keepSystem" | "keepTools">;
};

/** Where planned rollouts come from. */
export type RolloutSource = {
  /** The next one, now or when there is one; undefined if there will be none. */
  next(): PlannedRollout | undefined | Promise<PlannedRollout | undefined>;
  /** how many there are at most */
  size: number;
  /** Takes back one that is to go on later, if somebody else may do that; `isLast`: after all others. */
  giveBack?(planned: PlannedRollout, isLast: boolean): void;
  /** Nobody asks for another: whoever waits for one gets none. */
  close?(): void;
};

/** Somebody else has the rollout now: nothing of it can be written here any more. */
export class LostRollout extends Error {
  override name = "LostRollout";
}

/** The rollouts of a plan, in order. */
export function fromPlan({ rollouts, size }: { rollouts: Iterable<PlannedRollout>; size: number }): RolloutSource {
  const iterator = rollouts[Symbol.iterator]();
  return { next: () => iterator.next().value, size };
}
