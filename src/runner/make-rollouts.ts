// A run: prepare, plan, play so many rollouts at once, tell everyone who watches. Parallelism is over rollouts, within and
// across datasets.
import type { ResolvedRun } from "../config/index.ts";
import {
  type Clock,
  type DatasetCounts,
  type RunEnd,
  type RunEvent,
  systemClock,
  timestamp,
  type Variables,
} from "../core/index.ts";
import { openResources } from "../domains/index.ts";
import { type CreateNetworkClient, type NetworkLoad, openNetwork } from "../models/index.ts";
import { allRounds, claimJournalFolder, RunFolder } from "../runs/index.ts";
import { createScorer, type Scorer, scoreLive } from "../scoring/index.ts";
import { beginRun } from "./begin-run.ts";
import { BudgetWatch } from "./budget.ts";
import { chooseOutputs, listOutputs, outputOf } from "./output-files.ts";
import { planRun, type RunPlan, requireKnownIds } from "./plan.ts";
import { type PreparedDataset, prepareDataset } from "./prepare-dataset.ts";
import { Rollout } from "./rollout.ts";
import { RunContext } from "./run-context.ts";

export type MakeOptions = {
  /** where keys, proxies and variables of the config are read from; tool servers get a short list of it */
  env?: Variables;
  onEvent?: (event: RunEvent) => void;
  clock?: Clock;
  /** set: no new work, calls under way may finish */
  park?: AbortSignal;
  /** set: leave at once */
  abort?: AbortSignal;
  /** what people should know before anything is paid for, one line each */
  inspect?: (run: ResolvedRun, datasets: PreparedDataset[]) => Promise<string[]>;
  /** given, before the run starts, a way to see what its endpoints are doing */
  watchNetwork?: (load: () => NetworkLoad) => void;
  /** instead of the network */
  createNetworkClient?: CreateNetworkClient;
};

export type RunResult = {
  folder: string;
  outputs: { [dataset: string]: string };
  datasets: DatasetCounts[];
  finished: number;
  failed: number;
  /** planned rollouts that are neither finished nor failed */
  left: number;
  stoppedBy?: "interrupt" | "budget";
};

/** Makes what the run folder lacks; resolves when all that can be done is done. */
export async function makeRollouts(asked: ResolvedRun, options: MakeOptions = {}): Promise<RunResult> {
  const run = chooseOutputs(asked);
  const { env = {}, clock = systemClock, onEvent = () => {} } = options;
  const network = openNetwork({ ...networkOptions(run), env, clock, onEvent });
  const note = (message: string) => onEvent({ type: "run-note", at: timestamp(clock), message });
  const resources = openResources({ env, nameStyle: run.config.tool_names, python: run.config.python, onNotice: note });
  const createNetworkClient = options.createNetworkClient ?? network.createClient;
  try {
    options.watchNetwork?.(network.load);
    const preparing = run.datasets.map((spec) => prepareDataset(run, spec, { createNetworkClient, resources }));
    const datasets = await Promise.all(preparing);
    requireKnownIds(run, datasets);
    for (const warning of (await options.inspect?.(run, datasets)) ?? []) note(warning);
    const scorer = run.config.eval ? await createScorer(run.config.eval, createNetworkClient) : undefined;
    return await playPlanned(run, datasets, { ...options, clock, onEvent, scorer, onPark: network.park });
  } finally {
    await Promise.all([network.close(), resources.close()]);
  }
}

/** What the network needs to know of a run. */
export function networkOptions({ config, registry }: ResolvedRun) {
  const { record, replay, connect_timeout: connectSeconds, idle_timeout: idleSeconds } = config;
  return { registry, record, replay, connectSeconds, idleSeconds };
}

type Playing = Pick<MakeOptions, "park" | "abort"> & {
  clock: Clock;
  onEvent: (event: RunEvent) => void;
  scorer: Scorer | undefined;
  onPark(): void;
};

async function playPlanned(run: ResolvedRun, datasets: PreparedDataset[], options: Playing): Promise<RunResult> {
  const { clock, onEvent, scorer, abort = new AbortController().signal } = options;
  const { config } = run;
  const folder = new RunFolder({
    path: run.folder,
    sync: config.sync,
    checkpoints: config.use_checkpoints,
    checkpointDir: config.checkpoint_dir && claimJournalFolder(config.checkpoint_dir, run.folder),
    onPause: (message) => onEvent({ type: "run-note", at: timestamp(clock), message }),
    giveUp: abort,
  });
  let scoring: ReturnType<typeof scoreLive> | undefined;
  try {
    const plan = planRun(run, datasets, folder);
    const budget = new BudgetWatch(config, { outputs: Object.values(listOutputs(run)), unfinished: plan.paidBefore });
    const park = options.park ? AbortSignal.any([options.park, budget.spent]) : budget.spent;
    park.addEventListener("abort", options.onPark);
    const context = new RunContext({ run, folder, clock, park, abort }, (event) => {
      budget.onEvent(event);
      onEvent(event);
      scoring?.onEvent(event);
    });
    await beginRun(context, datasets, plan);
    if (scorer) {
      const scored = datasets.map((dataset) => ({
        ...dataset,
        outputs: allRounds(outputOf(run.folder, dataset.spec), config.rollouts),
      }));
      scoring = scoreLive(scored, { ...scorer, folder: folder.path, workers: config.max_workers, park });
    }
    const counts = await playAll(context, plan);
    await scoring?.finish();
    const left = plan.size - counts.finished - counts.failed;
    const failed = counts.failed + plan.datasets.reduce((sum, { givenUp }) => sum + givenUp, 0);
    const stoppedBy = left === 0 ? undefined : budget.spent.aborted ? "budget" : "interrupt";
    const end: RunEnd = { type: "run-end", at: timestamp(clock), finished: counts.finished, failed, stoppedBy };
    if (abort.aborted) context.tell(end);
    else await context.record(end);
    const { finished } = counts;
    return {
      folder: folder.path,
      outputs: listOutputs(run),
      datasets: plan.datasets,
      finished,
      failed,
      left,
      stoppedBy,
    };
  } finally {
    await scoring?.close();
    await folder.close();
  }
}

/** Records that may wait for the disk while workers go on. */
const MAX_UNWRITTEN = 256;

async function playAll(context: RunContext, plan: RunPlan): Promise<{ finished: number; failed: number }> {
  const { run, park, abort } = context;
  const workers = Math.min(run.config.max_workers, plan.size);
  const maxUnwritten = Math.max(workers, MAX_UNWRITTEN);
  const counts = { finished: 0, failed: 0 };
  const writing = new Set<Promise<void>>();
  const waiting: (() => void)[] = [];
  // each rollout listens to a signal of its own: one that thousands share costs every one of them
  const running = new Set<AbortController>();
  const abortAll = (reason: unknown) => {
    for (const controller of running) controller.abort(reason);
  };
  abort.addEventListener("abort", () => abortAll(abort.reason));
  // a bug in one rollout, or a disk that fails, ends the run, once nobody writes any more
  const crash = new AbortController();
  const stop = (error: unknown) => {
    crash.abort(error);
    abortAll(error);
  };
  const work = async () => {
    for (const planned of plan.rollouts) {
      const controller = new AbortController();
      running.add(controller);
      const rollout = new Rollout(context, planned, controller.signal);
      const { outcome, written } = await rollout.play().finally(() => running.delete(controller));
      if (outcome) {
        // the record becomes durable while this worker goes on
        const done = written
          .then(() => {
            counts[outcome.stopReason === "infrastructure" ? "failed" : "finished"]++;
          }, stop)
          .finally(() => {
            writing.delete(done);
            waiting.shift()?.();
          });
        writing.add(done);
        if (writing.size > maxUnwritten) await new Promise<void>((resolve) => waiting.push(resolve));
      }
      if (park.aborted || abort.aborted || crash.signal.aborted) return;
    }
  };
  if (!park.aborted && !abort.aborted) await Promise.all(Array.from({ length: workers }, () => work().catch(stop)));
  await Promise.all(writing);
  if (!abort.aborted) crash.signal.throwIfAborted();
  return counts;
}
