// A run: prepare, plan, play so many rollouts at once, tell everyone who watches. Parallelism is over rollouts, within and
// across datasets.
import { existsSync } from "node:fs";
import { type Clock, type DatasetPlan, type RunEvent, systemClock, timestamp, UsageError } from "../core/index.ts";
import { besideIfTaken, defaultOutput, FORMAT_VERSION, type Manifest, RunFolder } from "../runs/index.ts";
import type { CreateNetworkClient } from "./clients.ts";
import { planRun, type RunPlan, type WorkItem } from "./plan.ts";
import { playRollout, type RolloutSurroundings } from "./play-rollout.ts";
import { type PreparedDataset, prepareDataset, toolsKeeper } from "./prepare.ts";
import type { RunSpec } from "./spec.ts";

export type RunOptions = {
  programVersion: string;
  createNetworkClient: CreateNetworkClient;
  onEvent?: (event: RunEvent) => void;
  clock?: Clock;
  /** set: no new work, calls under way may finish */
  park?: AbortSignal;
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
  const run = placed(asked);
  const prepared = await Promise.all(run.datasets.map((dataset) => prepareDataset(run, dataset, options)));
  const clock = options.clock ?? systemClock;
  const emit = options.onEvent ?? (() => {});
  const note = (message: string) => emit({ type: "run-note", at: timestamp(clock), message });
  const folder = new RunFolder({
    path: run.folder,
    sync: run.sync,
    checkpoints: run.useCheckpoints,
    ...(run.checkpointDir ? { checkpointDir: run.checkpointDir } : {}),
    onPause: note,
  });
  try {
    const keepTools = toolsKeeper(folder);
    const datasets = prepared.map((dataset): PreparedDataset => ({ ...dataset, keepTools }));
    const plan = planRun(run, datasets, folder);
    await begin(run, datasets, folder, plan, options, clock, note);
    const never = new AbortController().signal;
    const surroundings = { folder, clock, emit, park: options.park ?? never, abort: options.abort ?? never };
    const { finished, failed } = await playAll(run, plan, surroundings);
    const left = plan.items.length - finished - failed;
    const end = {
      type: "run-end" as const,
      at: timestamp(clock),
      finished,
      failed: failed + plan.givenUp,
      ...(left > 0 ? { stoppedBy: "interrupt" as const } : {}),
    };
    await folder.record(end);
    emit(end);
    const outputs = Object.fromEntries(datasets.map(({ spec }) => [spec.name, outputOf(run, spec.name, spec.output)]));
    return {
      folder: folder.path,
      outputs,
      datasets: plan.datasets,
      finished,
      failed: end.failed,
      left,
      ...(end.stoppedBy ? { stoppedBy: end.stoppedBy } : {}),
    };
  } finally {
    await folder.close();
  }
}

/** Where this run writes: the folder asked for, or one beside it. */
function placed(run: RunSpec): RunSpec {
  const outputs = run.datasets.map((dataset) => outputOf(run, dataset.name, dataset.output));
  const twice = outputs.find((output, index) => outputs.indexOf(output) !== index);
  if (twice) throw new UsageError(`Two datasets would write to ${twice}; give each its own output_path`);
  if (run.resume) return run;
  const datasets = run.datasets.map((dataset) =>
    dataset.output ? { ...dataset, output: besideIfTaken(dataset.output) } : dataset,
  );
  return { ...run, datasets, folder: besideIfTaken(run.folder, (path) => existsSync(path)) };
}

function outputOf(run: RunSpec, dataset: string, output: string | undefined): string {
  return output ?? defaultOutput(run.folder, dataset);
}

async function begin(
  run: RunSpec,
  datasets: PreparedDataset[],
  folder: RunFolder,
  plan: RunPlan,
  options: RunOptions,
  clock: Clock,
  note: (message: string) => void,
): Promise<void> {
  const before = folder.manifest;
  if (before && before.program_version !== options.programVersion) {
    note(`This run was begun with rollout ${before.program_version}; this is ${options.programVersion}`);
  }
  for (const { spec, queries } of datasets) {
    if (queries.repeats > 0) note(`${spec.name}: ${queries.repeats} repeated queries were left out`);
    for (const { id, keptAs, first, second } of queries.clashes) {
      note(
        `${spec.name}: id "${id}" stands for two queries (${first.file}:${first.line} and ${second.file}:${second.line}); the second is "${keptAs}"`,
      );
    }
  }
  const at = timestamp(clock);
  const manifest: Manifest = {
    format_version: FORMAT_VERSION,
    program_version: options.programVersion,
    node_version: process.version,
    created_at: before?.created_at ?? at,
    updated_at: at,
    seed: run.seed,
    resume_command: run.resumeCommand,
    config: run.config,
    datasets: {
      ...before?.datasets,
      ...Object.fromEntries(
        datasets.map(({ spec, parts, base }) => [
          spec.name,
          { output: outputOf(run, spec.name, spec.output), parts, base },
        ]),
      ),
    },
  };
  folder.writeManifest(manifest);
  for (const dataset of datasets) await folder.prompts.keepSystem(dataset.agentSystem);
  const start = {
    type: "run-start" as const,
    at,
    folder: folder.path,
    programVersion: options.programVersion,
    datasets: plan.datasets,
  };
  await folder.record(start);
  options.onEvent?.(start);
}

async function playAll(
  run: RunSpec,
  plan: RunPlan,
  surroundings: RolloutSurroundings,
): Promise<{ finished: number; failed: number }> {
  const counts = { finished: 0, failed: 0 };
  const writing = new Set<Promise<void>>();
  const stopped = () => surroundings.park.aborted || surroundings.abort.aborted;
  const playOne = async (item: WorkItem) => {
    const query = item.dataset.queries.load(item.query);
    const { outcome, written } = await playRollout(item.dataset, query, plan.planned(item), surroundings);
    if (!outcome) return;
    // the record becomes durable while this worker goes on; a failed write surfaces when the run waits for it
    const done = written.then(() => {
      counts[outcome.stopReason === "infrastructure" ? "failed" : "finished"]++;
      writing.delete(done);
    });
    writing.add(done);
    done.catch(() => {});
    if (writing.size > 4 * run.maxWorkers) await Promise.race(writing);
  };
  const queue = plan.items[Symbol.iterator]();
  const work = async () => {
    for (const item of queue) {
      if (stopped()) return;
      await playOne(item);
    }
  };
  await Promise.all(Array.from({ length: Math.min(run.maxWorkers, plan.items.length) }, work));
  await Promise.all(writing);
  return counts;
}
