// Playing rollouts that come from elsewhere: what a worker of a queue does for one run.
import type { ResolvedRun } from "../config/index.ts";
import { type RunEvent, raceAbort, systemClock, timestamp, type Variables } from "../core/index.ts";
import { capWorkers } from "./cap-workers.ts";
import { openParts } from "./open-parts.ts";
import type { PreparedDataset } from "./prepare-dataset.ts";
import { RunContext } from "./run-context.ts";
import type { RolloutSource, RolloutStore } from "./store.ts";
import { Workers } from "./workers.ts";

type PlayFrom = {
  /** made once the datasets are ready */
  source(datasets: PreparedDataset[]): RolloutSource;
  store: RolloutStore;
  env: Variables;
  onEvent(event: RunEvent): void;
  /** set: no new work, calls in flight may finish */
  park: AbortSignal;
  /** set: leave at once */
  abort: AbortSignal;
};

/** Resolves when the source has no more, or the run is parked, and everything is recorded. */
export async function playFrom(run: ResolvedRun, options: PlayFrom): Promise<void> {
  const { store, env, park, abort, onEvent } = options;
  const clock = systemClock;
  const note = (message: string) => onEvent({ type: "run-note", at: timestamp(clock), message });
  const open: { close(): Promise<void> }[] = [];
  try {
    const { network, calls, prepare } = openParts(run, { env, clock, onEvent, note }, open);
    const datasets = await raceAbort(prepare(), park);
    const atOnce = capWorkers({ run, endpoints: network.load().endpoints.length, note });
    if (park.aborted) network.park();
    park.addEventListener("abort", network.park);
    const context = new RunContext({ run, store, clock, calls, park, abort }, onEvent);
    await new Workers(context, atOnce).play(options.source(datasets));
  } finally {
    for (const part of open.reverse()) await part.close();
  }
}
