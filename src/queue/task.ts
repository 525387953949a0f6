// A planned rollout on its way to a worker, and back into a plan there: what was recorded of it so far comes along, first
// from the run folder, then from whoever played it since.
import type { CallStart, Entry, EntryEnd, Outcome, RolloutKey, RolloutStart, RunEvent } from "../core/index.ts";
import { rolloutSeed, UsageError } from "../core/index.ts";
import type { PlannedRollout, PreparedDataset } from "../runner/index.ts";
import { rolloutFingerprint } from "../runs/index.ts";

/** As it was planned. */
export type Task = {
  key: RolloutKey;
  attempt: number;
  fingerprint: string;
  drift: boolean;
  recorded: readonly Entry[];
  sent: [callId: string, key: string][];
  ended?: { outcome: Outcome; entries: number };
};

export function toTask(planned: PlannedRollout): Task {
  const { key, attempt, fingerprint, drift, recorded, sent, ended } = planned;
  return { key, attempt, fingerprint, drift, recorded, sent: [...sent], ended };
}

/** Finds a task's dataset and query among those of a run. */
export type Planner = (task: Task, events: RunEvent[]) => PlannedRollout;

export function createPlanner(seed: number, datasets: readonly PreparedDataset[]): Planner {
  const known = new Map(datasets.map((dataset) => [dataset.spec.name, { dataset, indexes: indexIds(dataset) }]));
  return (task, events) => {
    const { key, fingerprint, attempt, drift } = task;
    const { dataset, indexes } = known.get(key.dataset) ?? {};
    const index = indexes?.get(key.queryId);
    if (!dataset || index === undefined)
      throw new UsageError(`${key.dataset} has no query "${key.queryId}" here: this worker's copy of the run differs`);
    const query = dataset.queries.load(index);
    const own = rolloutFingerprint(dataset.base, query.hash);
    if (own !== fingerprint)
      throw new UsageError(
        `${key.dataset} is not the same here as where the run was planned (fingerprint ${own}, not ${fingerprint}): its files, tools or packages differ`,
      );
    return {
      dataset,
      query,
      key,
      fingerprint,
      attempt,
      drift,
      seed: rolloutSeed(seed, key),
      ...replayed(task, events),
    };
  };
}

/** What stands after these events, as a scan of the journal would find it. */
function replayed(task: Task, events: RunEvent[]): Pick<PlannedRollout, "recorded" | "sent" | "ended"> {
  let recorded = [...task.recorded];
  let sent = new Map(task.sent);
  for (const event of events) {
    if (event.type === "rollout-start") {
      const { continued } = event as RolloutStart;
      recorded = recorded.slice(0, continued);
      if (continued === 0) sent = new Map();
    } else if (event.type === "entry-end") {
      const { index, entry } = event as EntryEnd;
      if (index === recorded.length) recorded.push(entry);
    } else if (event.type === "call-start") {
      const { callId, key } = event as CallStart;
      sent.set(callId, key);
    }
  }
  return { recorded, sent, ended: task.ended };
}

function indexIds({ queries }: PreparedDataset): Map<string, number> {
  return new Map(queries.ids.map((id, index) => [id, index]));
}
