// A run: prepare, plan, play so many rollouts at once, tell everyone who watches. Parallelism is over rollouts, within and
// across datasets.
import { type Clock, type DatasetPlan, type RunEnd, type RunEvent, systemClock, timestamp } from "../core/index.ts";
import { allRounds, claimJournalFolder, RunFolder } from "../runs/index.ts";
import { beginRun, outputFiles, outputOf } from "./begin-run.ts";
import { BudgetWatch } from "./budget.ts";
import type { CreateNetworkClient } from "./clients.ts";
import { placeRun } from "./place-run.ts";
import { planRun, type RunPlan, requireKnownIds, type WorkItem } from "./plan.ts";
import { playRollout, type RolloutSurroundings } from "./play-rollout.ts";
import { preflight } from "./preflight.ts";
import { type PreparedDataset, prepareDataset, toolsKeeper } from "./prepare.ts";
import { createResources } from "./resources.ts";
import { planScoring, type Scoring, type ScoringPlan, scoreAsItGoes } from "./score-as-it-goes.ts";
import { scoredFromPrepared } from "./scored-datasets.ts";
import type { RunSpec } from "./spec.ts";

/** Records that may wait for the disk while workers go on. */
const MOST_UNWRITTEN = 256;

export type RunOptions = {
  programVersion: string;
  createNetworkClient: CreateNetworkClient;
  /** variables for tool servers; what reaches a child is a short list of them */
  env?: Readonly<Record<string, string | undefined>>;
  onEvent?: (event: RunEvent) => void;
  clock?: Clock;
  /** set: no new work, calls under way may finish */
  park?: AbortSignal;
  /** told when no new work may begin any more: by `park`, or because the budget is spent */
  onPark?: () => void;
  /** set: leave at once */
  abort?: AbortSignal;
};

export type RunResult = {
  folder: string;
  outputs: { [dataset: string]: string };
  datasets: DatasetPlan[];
  finished: number;
  failed: number;
  /** planned rollouts that are neither finished nor failed */
  left: number;
  stoppedBy?: "interrupt" | "budget";
};

export async function runRollouts(asked: RunSpec, options: RunOptions): Promise<RunResult> {
  const run = placeRun(asked);
  const clock = options.clock ?? systemClock;
  const note = (message: string) => options.onEvent?.({ type: "run-note", at: timestamp(clock), message });
  const resources = createResources({
    env: options.env ?? {},
    nameStyle: run.nameStyle,
    onNotice: note,
    ...(run.python ? { python: run.python } : {}),
  });
  try {
    const { createNetworkClient } = options;
    const preparing = run.datasets.map((dataset) => prepareDataset(run, dataset, { createNetworkClient, resources }));
    const prepared = await Promise.all(preparing);
    requireKnownIds(run, prepared);
    for (const warning of await preflight(run, prepared)) note(warning);
    const scoringPlan = run.evaluation && (await planScoring(run.evaluation, createNetworkClient));
    return await runPrepared(run, prepared, { ...options, clock, note, scoringPlan });
  } finally {
    await resources.close();
  }
}

type Running = RunOptions & { clock: Clock; note(message: string): void; scoringPlan: ScoringPlan | undefined };
type Prepared = Omit<PreparedDataset, "keepTools">;

async function runPrepared(run: RunSpec, prepared: Prepared[], options: Running): Promise<RunResult> {
  const { clock, note } = options;
  const folder = new RunFolder({
    path: run.folder,
    sync: run.sync,
    checkpoints: run.useCheckpoints,
    ...(run.checkpointDir ? { checkpointDir: claimJournalFolder(run.checkpointDir, run.folder) } : {}),
    onPause: note,
    ...(options.abort ? { giveUp: options.abort } : {}),
  });
  let scoring: Scoring | undefined;
  try {
    const keepTools = toolsKeeper(folder);
    const datasets = prepared.map((dataset): PreparedDataset => ({ ...dataset, keepTools }));
    const plan = planRun(run, datasets, folder);
    const budget = new BudgetWatch(run.budget, Object.values(outputFiles(run)), plan.paidBefore);
    const emit = (event: RunEvent) => {
      budget.onEvent(event);
      options.onEvent?.(event);
      scoring?.onEvent(event);
    };
    emit(await beginRun({ run, datasets, folder, plan, programVersion: options.programVersion, clock, note }));
    const never = new AbortController().signal;
    const park = AbortSignal.any([options.park ?? never, budget.spent]);
    park.addEventListener("abort", () => options.onPark?.());
    if (options.scoringPlan) {
      const scored = prepared.map((own) => scoredFromPrepared(own, allRounds(outputOf(run, own.spec), run.rollouts)));
      scoring = scoreAsItGoes({
        ...options.scoringPlan,
        folder: folder.path,
        datasets: scored,
        workers: run.maxWorkers,
        park,
      });
    }
    const counts = await playAll(run, plan, { folder, clock, emit, park, abort: options.abort ?? never });
    const left = plan.size - counts.finished - counts.failed;
    const stoppedBy = left === 0 ? undefined : budget.spent.aborted ? "budget" : "interrupt";
    const end: RunEnd = {
      type: "run-end",
      at: timestamp(clock),
      finished: counts.finished,
      failed: counts.failed + plan.datasets.reduce((sum, { givenUp }) => sum + givenUp, 0),
      ...(stoppedBy ? { stoppedBy } : {}),
    };
    await scoring?.finish();
    if (!options.abort?.aborted) await folder.record(end);
    emit(end);
    const { finished, failed } = end;
    return {
      folder: folder.path,
      outputs: outputFiles(run),
      datasets: plan.datasets,
      finished,
      failed,
      left,
      ...(stoppedBy ? { stoppedBy } : {}),
    };
  } finally {
    await scoring?.close();
    await folder.close();
  }
}

async function playAll(
  run: RunSpec,
  plan: RunPlan,
  surroundings: RolloutSurroundings,
): Promise<{ finished: number; failed: number }> {
  const counts = { finished: 0, failed: 0 };
  const writing = new Set<Promise<void>>();
  const waiting: (() => void)[] = [];
  const mostUnwritten = Math.max(run.maxWorkers, MOST_UNWRITTEN);
  // each rollout listens to a signal of its own: one that thousands share costs every one of them
  const running = new Set<AbortController>();
  surroundings.abort.addEventListener("abort", () => {
    for (const controller of running) controller.abort(surroundings.abort.reason);
  });
  // a bug in one rollout, or a disk that fails, ends the run, once nobody writes any more
  const crash = new AbortController();
  const stop = (error: unknown) => {
    crash.abort(error);
    for (const controller of running) controller.abort(error);
  };
  const stopped = () => surroundings.park.aborted || surroundings.abort.aborted || crash.signal.aborted;
  const playOne = async (item: WorkItem) => {
    const query = item.dataset.queries.load(item.query);
    const controller = new AbortController();
    running.add(controller);
    const own = { ...surroundings, abort: controller.signal };
    const playing = playRollout(item.dataset, query, plan.planned(item), own).finally(() => running.delete(controller));
    const { outcome, written } = await playing;
    if (!outcome) return;
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
    if (writing.size > mostUnwritten) await new Promise<void>((resolve) => waiting.push(resolve));
  };
  const work = async () => {
    for (const item of plan.items) {
      if (stopped()) return;
      await playOne(item);
    }
  };
  await Promise.all(Array.from({ length: Math.min(run.maxWorkers, plan.size) }, () => work().catch(stop)));
  await Promise.all(writing);
  if (!surroundings.abort.aborted) crash.signal.throwIfAborted();
  return counts;
}
