// A run: prepare, plan, play several rollouts at once, inform all watchers. Parallelism is over rollouts, within and
// across datasets.
import { type ResolvedRun, withVariablePlaces } from "../config/index.ts";
import {
  type Clock,
  type DatasetCounts,
  type RunEnd,
  type RunEvent,
  raceAbort,
  sum,
  systemClock,
  timestamp,
  type Variables,
} from "../core/index.ts";
import { describeSharedWrites } from "../domains/index.ts";
import { type CreateNetworkClient, type NetworkLoad, type OwnModels, SetupError } from "../models/index.ts";
import { allRounds, claimJournalFolder, RunFolder } from "../runs/index.ts";
import { createScorer, type LiveScoring, scoreLive } from "../scoring/index.ts";
import type { Telemetry } from "../telemetry/index.ts";
import { beginRun } from "./begin-run.ts";
import { BudgetWatch } from "./budget.ts";
import type { CallsInFlight } from "./calls-in-flight.ts";
import { capWorkers } from "./cap-workers.ts";
import { requireKnownRecords } from "./earlier-records.ts";
import type { Fleet, WorkerSight } from "./fleet.ts";
import { openParts } from "./open-parts.ts";
import { chooseOutputs, listOutputs, outputOf } from "./output-files.ts";
import { planRun, type RunPlan, requireKnownIds } from "./plan.ts";
import type { PreparedDataset } from "./prepare-dataset.ts";
import { RunContext } from "./run-context.ts";
import { fromPlan } from "./store.ts";
import { Workers } from "./workers.ts";

export type MakeOptions = {
  /** where keys, proxies and variables of the config are read from; tool servers get a short list of it */
  env?: Variables;
  onEvent?: (event: RunEvent) => void;
  clock?: Clock;
  /** set: no new work, calls in flight may finish; before the run has begun, it rejects with the signal's reason */
  park?: AbortSignal;
  /** set: leave at once */
  abort?: AbortSignal;
  /** what people should know before anything is paid for, one line each */
  inspect?: (run: ResolvedRun, datasets: PreparedDataset[]) => Promise<string[]>;
  /** given, before the run starts, a way to see what its endpoints are doing, and which calls take long */
  watchNetwork?: (load: () => RunLoad) => void;
  /** spans of rollouts and calls: `openTelemetry` makes it, and whoever opened it closes it */
  telemetry?: Telemetry;
  /** replaces the network */
  createNetworkClient?: CreateNetworkClient;
  /** models in code, by the name under which the config asks for them */
  agents?: OwnModels;
  /** makes the rollouts elsewhere; it is closed with the run */
  fleet?: Fleet;
};

/** What a run is waiting for right now, and the machines that work on it. */
export type RunLoad = NetworkLoad & ReturnType<CallsInFlight["list"]> & { workers?: WorkerSight[] };

export type RunResult = {
  folder: string;
  outputs: { [dataset: string]: string };
  datasets: DatasetCounts[];
  finished: number;
  failed: number;
  /** planned rollouts that are neither finished nor failed */
  left: number;
  /** rollouts of the run that the flags of a resume left for another time */
  later: number;
  stoppedBy?: "interrupt" | "budget";
  /** what the whole run has used so far, if it has a budget */
  used: { costUsd: number; tokens: number };
};

/** Makes what the run folder lacks; resolves when everything possible is done. */
export async function makeRollouts(asked: ResolvedRun, options: MakeOptions = {}): Promise<RunResult> {
  const open: { close(): Promise<void> }[] = [];
  try {
    const { context, folder, crew, plan, budget, scoring } = await openRun(chooseOutputs(asked), options, open);
    await crew
      .play(plan)
      .then(() => scoring?.finish())
      .catch((error) => tellSetup(context, crew.counts, error));
    const { finished, failed: failedNow } = crew.counts;
    const { run, clock, abort } = context;
    const left = plan.size - finished - failedNow;
    const failed = failedNow + sum(plan.datasets.map(({ givenUp }) => givenUp));
    const stoppedBy = left === 0 ? undefined : budget.spent.aborted ? "budget" : "interrupt";
    const end: RunEnd = { type: "run-end", at: timestamp(clock), finished, failed, stoppedBy };
    if (abort.aborted) context.tell(end);
    else await context.record(end);
    const { datasets } = plan;
    const later = sum(datasets.map((dataset) => dataset.later ?? 0));
    const { used } = budget;
    return { folder: folder.path, outputs: listOutputs(run), datasets, finished, failed, left, later, stoppedBy, used };
  } finally {
    // in reverse order of opening: scores and records before the models and tools that they come from
    for (const part of open.reverse()) await part.close();
  }
}

/** What stops every rollout is kept in the journal, for those who look at the run later. */
async function tellSetup(context: RunContext, counts: Crew["counts"], error: unknown): Promise<never> {
  if (error instanceof SetupError) {
    const { message } = error;
    await context.record({ type: "run-end", at: timestamp(context.clock), ...counts, stoppedBy: "setup", message });
  }
  throw error;
}

/** Who makes the rollouts: this process, or a fleet. */
type Crew = {
  play(plan: RunPlan): Promise<void>;
  stop(error: unknown): void;
  readonly counts: { finished: number; failed: number };
};

type OpenRun = {
  context: RunContext;
  folder: RunFolder;
  crew: Crew;
  plan: RunPlan;
  budget: BudgetWatch;
  scoring: LiveScoring | undefined;
};

/** User mistakes are reported before the run folder is opened, except drift. What is opened is added to `open`. */
async function openRun(run: ResolvedRun, options: MakeOptions, open: { close(): Promise<void> }[]): Promise<OpenRun> {
  const { clock = systemClock, onEvent = () => {}, telemetry, fleet } = options;
  const { config } = run;
  const note = (message: string) => onEvent({ type: "run-note", at: timestamp(clock), message });
  const { abort, onPause } = leaveUnwritable(options, note);
  for (const text of run.notes ?? []) note(text);
  const parts = openParts(run, { ...options, onEvent, note }, open);
  const { network, calls, createNetworkClient } = parts;
  options.watchNetwork?.(() => ({ ...network.load(), ...calls.list(), workers: fleet?.workers() }));
  const datasets = await raceAbort(parts.prepare(), options.park);
  requireKnownIds(run, datasets);
  requireKnownRecords(run, datasets);
  for (const { spec, domain } of datasets)
    if (spec.mode === "positive") for (const text of describeSharedWrites(domain)) note(text);
  for (const warning of (await options.inspect?.(run, datasets)) ?? []) note(warning);
  const { eval: scored } = config;
  const scorer = scored && (await withVariablePlaces(run, () => createScorer(scored, createNetworkClient)));
  const atOnce = fleet ? config.max_workers : capWorkers({ run, endpoints: network.load().endpoints.length, note });

  if (fleet) open.push(fleet);
  for (const text of (await fleet?.prepare(run)) ?? []) note(text);
  const openFolder = () => {
    const opened = new RunFolder({
      path: run.folder,
      sync: config.sync,
      checkpoints: config.use_checkpoints,
      checkpointDir: config.checkpoint_dir && claimJournalFolder(config.checkpoint_dir, run.folder),
      onPause,
      onNotice: note,
      giveUp: abort,
    });
    open.push(opened);
    return opened;
  };
  let folder = openFolder();
  if (await fleet?.catchUp(run, folder)) {
    await open.pop()?.close();
    folder = openFolder();
  }
  const plan = planRun(run, datasets, folder);
  for (const { name, kept, continuing } of plan.datasets)
    if (kept + continuing > 0 && !config.allow_drift) network.trustPrompts(name);
  const budget = new BudgetWatch(config, { outputs: Object.values(listOutputs(run)), unfinished: plan.paidBefore });
  const park = options.park ? AbortSignal.any([options.park, budget.spent]) : budget.spent;
  if (park.aborted) network.park();
  park.addEventListener("abort", network.park);
  let scoring: LiveScoring | undefined;
  const context = new RunContext({ run, store: folder, clock, calls, park, abort, telemetry }, (event) => {
    budget.onEvent(event);
    telemetry?.onEvent(event);
    onEvent(event);
    scoring?.onEvent(event);
  });
  await beginRun(context, { folder, datasets, plan, queueId: fleet?.nameRun(folder) });
  const crew = fleet
    ? ledBy(fleet, (planned) => fleet.play({ run, datasets, plan: planned, folder, context }))
    : playHere(new Workers(context, atOnce));
  const onFailure = (error: unknown) => crew.stop(error);
  if (scorer) {
    const played = datasets.map((dataset) => ({
      ...dataset,
      outputs: allRounds(outputOf(run.folder, dataset.spec), config.rollouts),
    }));
    scoring = scoreLive(played, {
      ...scorer,
      folder: folder.path,
      workers: atOnce,
      park,
      abort,
      onPause,
      onFailure,
    });
    open.push(scoring);
  }
  return { context, folder, crew, plan, budget, scoring };
}

function ledBy(fleet: Fleet, play: Crew["play"]): Crew {
  return { play, stop: (error) => fleet.stop(error), counts: fleet.counts };
}

function playHere(workers: Workers): Crew {
  return {
    play: (plan) => workers.play(fromPlan(plan)),
    stop: (error) => workers.stop(error),
    counts: workers.counts,
  };
}

type Leaving = { abort: AbortSignal; onPause(message: string, isPaused: boolean): void };

/** A disk that cannot be written is waited for, but not by a run that is being stopped: that leaves at once. */
function leaveUnwritable({ park, abort }: MakeOptions, note: (message: string) => void): Leaving {
  const leaving = new AbortController();
  let paused = 0;
  const leaveIfStopped = () => park?.aborted && paused > 0 && leaving.abort(park.reason);
  if (abort?.aborted) leaving.abort(abort.reason);
  abort?.addEventListener("abort", () => leaving.abort(abort.reason));
  park?.addEventListener("abort", leaveIfStopped);
  return {
    abort: leaving.signal,
    onPause(message, isPaused) {
      note(message);
      paused += isPaused ? 1 : -1;
      leaveIfStopped();
    },
  };
}
