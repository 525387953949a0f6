// One record held against its tools: its calls are made again, in an environment like the rollout's own, and their results
// and the final state compared with what it says.
import { contentHash, type Environment, RolloutError, type StateChanges, type Trajectory } from "../core/index.ts";
import { readTranscript, repeatCalls, type StoredDataset, worldOf } from "../scoring/index.ts";

type Answer = { content: string; isError: boolean };

export type Difference = { dataset: string; id: string } & (
  | { kind: "result"; call: number; tool: string; arguments: string; recorded: Answer; now: Answer }
  /** a record holds only a hash of the state; `changes` is the state that the calls lead to now */
  | { kind: "state"; recorded: string; now: string; changes: StateChanges }
  /** its tools could not be asked */
  | { kind: "unreachable"; reason: string }
);

/** Trusted calls were not made again, because others share their effects: they neither agree nor differ. */
export type ReplayedRecord = { made: number; trusted: number; differences: Difference[] };

export async function replayRecord(trajectory: Trajectory, dataset: StoredDataset): Promise<ReplayedRecord> {
  const { id, query_id, metadata } = trajectory;
  const about = { dataset: dataset.name, id };
  const replayed: ReplayedRecord = { made: 0, trusted: 0, differences: [] };
  const giveUp = (reason: string) => {
    replayed.differences.push({ ...about, kind: "unreachable", reason });
    return replayed;
  };
  const query = dataset.query(query_id);
  if (typeof dataset.openEnvironment === "string") return giveUp(dataset.openEnvironment);
  if (!query) return giveUp(`the query ${query_id} is no longer in the dataset`);
  let environment: Environment | undefined;
  try {
    environment = await dataset.openEnvironment(worldOf(trajectory, query));
    const calls = readTranscript(trajectory);
    for await (const { number, call, result, trusted } of repeatCalls(calls, environment, { signal: NEVER })) {
      replayed[trusted ? "trusted" : "made"]++;
      const recorded = { content: call.result, isError: call.isError };
      const now = { content: result.content, isError: result.isError };
      if (recorded.content === now.content && recorded.isError === now.isError) continue;
      const { name: tool, text } = call;
      replayed.differences.push({ ...about, kind: "result", call: number, tool, arguments: text, recorded, now });
    }
    const changes = await environment.state();
    const [recorded, now] = [metadata.final_state_hash, contentHash(changes)];
    if (recorded !== now) replayed.differences.push({ ...about, kind: "state", recorded, now, changes });
    return replayed;
  } catch (error) {
    if (error instanceof RolloutError) return giveUp(error.message);
    throw error;
  } finally {
    await environment?.close();
  }
}

const NEVER = new AbortController().signal;
