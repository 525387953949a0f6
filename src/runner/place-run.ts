// Where a run writes: the folder asked for, or one beside it; and what goes on goes on where it was begun.
import { basename, dirname, join, resolve } from "node:path";
import { UsageError } from "../core/index.ts";
import { besideIfTaken, readManifest } from "../runs/index.ts";
import { outputOf } from "./begin-run.ts";
import { quote } from "./config/resolve.ts";
import type { DatasetSpec, RunSpec } from "./spec.ts";

export function placeRun(run: RunSpec): RunSpec {
  const outputs = run.datasets.map((dataset) => outputOf(run, dataset));
  const places = outputs.map((output) => resolve(output));
  const twice = outputs.find((_, index) => places.indexOf(places[index] as string) !== index);
  if (twice) throw new UsageError(`Two datasets would write to ${twice}; give each its own output_path`);
  return run.resume ? whereItWasBegun(run) : beside(run);
}

function beside(run: RunSpec): RunSpec {
  const folder = besideIfTaken(run.folder);
  const datasets = run.datasets.map((dataset) => withOutput(dataset, dataset.output && besideIfTaken(dataset.output)));
  const resumeCommand = `${run.resumeCommand.replace(/ --resume$/, "")} --output-dir ${quote(folder)} --resume`;
  return { ...run, datasets, folder, ...(folder === run.folder ? {} : { resumeCommand }) };
}

/** A run that was begun beside another wrote to `<output_path>.2.jsonl`: its resume goes on there. */
function whereItWasBegun(run: RunSpec): RunSpec {
  const before = readManifest(join(run.folder, "manifest.json"));
  const datasets = run.datasets.map((dataset) => {
    const earlier = before?.datasets[dataset.name]?.output;
    return dataset.output && earlier && isBeside(earlier, dataset.output) ? withOutput(dataset, earlier) : dataset;
  });
  return { ...run, datasets };
}

function isBeside(path: string, asked: string): boolean {
  const unnumbered = join(dirname(path), basename(path).replace(/\.\d+(\.jsonl)?$/, "$1"));
  return resolve(path) !== resolve(asked) && resolve(unnumbered) === resolve(asked);
}

function withOutput(dataset: DatasetSpec, output: string | undefined): DatasetSpec {
  return output === undefined ? dataset : { ...dataset, output };
}
