// Where a run writes: the requested folder, or a free one next to it. A continued run writes where it was started.
import { basename, dirname, join, resolve } from "node:path";
import type { DatasetSpec, FullConfig, ResolvedRun } from "../config/index.ts";
import { UsageError } from "../core/index.ts";
import {
  defaultOutput,
  findFreePath,
  MANIFEST_FILE,
  type Manifest,
  ROUND,
  readManifest,
  roundFiles,
} from "../runs/index.ts";

export function chooseOutputs(run: ResolvedRun): ResolvedRun {
  const outputs = run.datasets.map((dataset) => outputOf(run.folder, dataset));
  const paths = outputs.map((output) => resolve(output));
  const twice = outputs.find((_, index) => paths.indexOf(paths[index] as string) !== index);
  if (twice) throw new UsageError(`Two datasets would write to ${twice}; give each its own output_path`);
  return run.config.resume ? whereBegun(run) : nextToEarlier(run);
}

/** A dataset's file, or the pattern that names the file of each of its rounds. */
export function outputOf(folder: string, dataset: Pick<DatasetSpec, "name" | "output" | "rounds">): string {
  if (dataset.rounds) return join(folder, `iter${ROUND}.jsonl`);
  return dataset.output ?? defaultOutput(folder, dataset.name);
}

/** The files that a run's datasets have so far, by name; each round's file under its own name. */
export function listOutputs({ folder, datasets }: ResolvedRun): { [name: string]: string } {
  const named = datasets.flatMap((dataset) => {
    const output = outputOf(folder, dataset);
    if (!dataset.rounds) return [[dataset.name, output]];
    return roundFiles(output).map((file) => [basename(file, ".jsonl"), file]);
  });
  return Object.fromEntries(named);
}

function nextToEarlier(run: ResolvedRun): ResolvedRun {
  const datasets = run.datasets.map((dataset) => ({
    ...dataset,
    output: dataset.output && findFreePath(dataset.output),
  }));
  return { ...run, datasets, folder: findFreePath(run.folder) };
}

/** A run that was started next to another one wrote to `<output_path>.2.jsonl`: it continues there. */
function whereBegun(run: ResolvedRun): ResolvedRun {
  const before = readManifest(join(run.folder, MANIFEST_FILE));
  requireSameShare(run, before);
  const datasets = run.datasets.map((dataset) => {
    const earlier = before?.datasets[dataset.name]?.output;
    const continues = dataset.output && earlier && isNumbered(earlier, dataset.output);
    return continues ? { ...dataset, output: earlier } : dataset;
  });
  return { ...run, datasets };
}

/** A folder holds one share: merging counts on it. Without `split` the rest of the run is made there too. */
function requireSameShare({ config, folder }: ResolvedRun, before: Manifest | undefined): void {
  const { split } = (before?.config ?? {}) as Pick<FullConfig, "split">;
  if (!split || !config.split || split === config.split) return;
  throw new UsageError(
    `${folder} holds share ${split} of a run, and this is share ${config.split}: give each share a folder of its own (--output-dir). Without --split the rest of the run is made here`,
  );
}

function isNumbered(path: string, asked: string): boolean {
  const unnumbered = join(dirname(path), basename(path).replace(/\.\d+(\.jsonl)?$/, "$1"));
  return resolve(path) !== resolve(asked) && resolve(unnumbered) === resolve(asked);
}
