// Other machines that make a run's rollouts: this process plans, collects what they record into the run folder, and tells
// the same watchers.
import type { ResolvedRun } from "../config/index.ts";
import type { RunFolder } from "../runs/index.ts";
import type { RunPlan } from "./plan.ts";
import type { PreparedDataset } from "./prepare-dataset.ts";
import type { RunContext } from "./run-context.ts";

/** A worker as others see it. */
export type WorkerSight = {
  host: string;
  pid: number;
  /** rollouts of this run that it is playing now */
  inFlight: number;
  /** rollouts of all runs: since it started, and a second lately */
  finished: number;
  perSecond: number;
  /** seconds since it started, and since it was last heard of */
  upSeconds: number;
  silentSeconds: number;
  /** false: it was silent for so long that others have its work */
  isAlive: boolean;
};

export type FleetRun = {
  run: ResolvedRun;
  datasets: PreparedDataset[];
  plan: RunPlan;
  folder: RunFolder;
  context: RunContext;
};

export type Fleet = {
  /** What cannot be sent elsewhere is refused here, before anything is written; returns what people should know. */
  prepare(run: ResolvedRun): Promise<string[]>;
  /** The run's name on the queue, for its manifest. */
  nameRun(folder: RunFolder): string;
  /** Puts what was recorded while nobody collected into the folder; true if there was anything. */
  catchUp(run: ResolvedRun, folder: RunFolder): Promise<boolean>;
  /** Hands out the plan and collects; resolves when all of it has ended, or the run is parked and nothing is left in flight. */
  play(run: FleetRun): Promise<void>;
  /** Ends the run with this error. */
  stop(error: unknown): void;
  readonly counts: { finished: number; failed: number };
  /** Those that were heard of lately; undefined before anybody has looked. */
  workers(): WorkerSight[] | undefined;
  close(): Promise<void>;
};
