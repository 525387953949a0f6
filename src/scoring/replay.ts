// Runs the recorded calls again, in a fresh environment with the rollout's seed, to get the state that the agent left.
// The record holds a hash of it, so a replay that diverged is detected.
import { contentHash, type Environment, RolloutError, type StateChanges, type Trajectory } from "../core/index.ts";
import type { Transcript } from "./transcript.ts";

export type ReplayedState = { state: StateChanges };

export async function replayCalls(
  trajectory: Trajectory,
  { calls }: Transcript,
  open: () => Promise<Environment>,
  signal: AbortSignal,
): Promise<ReplayedState | string> {
  let environment: Environment | undefined;
  try {
    environment = await open();
    for (const { id, name, text } of calls) await environment.call({ id, name, arguments: text }, signal);
    const state = await environment.state();
    if (contentHash(state) !== trajectory.metadata.final_state_hash)
      return "the recorded calls no longer lead to the recorded state: the domain's data or code changed, or its tools do not repeat themselves";
    return { state };
  } catch (error) {
    if (error instanceof RolloutError) return `the tools are out of reach: ${error.message}`;
    throw error;
  } finally {
    await environment?.close();
  }
}
