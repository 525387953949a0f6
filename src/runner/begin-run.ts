// The start of a run: what was asked is written down, and what people should know of the queries is said.
import { basename, join } from "node:path";
import { type Clock, type RunStart, timestamp } from "../core/index.ts";
import {
  defaultOutput,
  FORMAT_VERSION,
  type Manifest,
  type ManifestDataset,
  ROUND,
  type RunFolder,
  roundFiles,
} from "../runs/index.ts";
import type { RunPlan } from "./plan.ts";
import type { PreparedDataset } from "./prepare.ts";
import { sourceOf } from "./scored-datasets.ts";
import type { DatasetSpec, RunSpec } from "./spec.ts";

export type Beginning = {
  run: RunSpec;
  datasets: PreparedDataset[];
  folder: RunFolder;
  plan: RunPlan;
  programVersion: string;
  clock: Clock;
  note(message: string): void;
};

export async function beginRun({
  run,
  datasets,
  folder,
  plan,
  programVersion,
  clock,
  note,
}: Beginning): Promise<RunStart> {
  const before = folder.manifest;
  if (before && before.program_version !== programVersion) {
    note(`This run was begun with rollout ${before.program_version}; this is ${programVersion}`);
  }
  for (const dataset of datasets) tellOfQueries(dataset, note);
  const at = timestamp(clock);
  const manifest: Manifest = {
    format_version: FORMAT_VERSION,
    program_version: programVersion,
    node_version: process.version,
    created_at: before?.created_at ?? at,
    updated_at: at,
    seed: run.seed,
    resume_command: run.resumeCommand,
    working_directory: process.cwd(),
    journal: folder.journalPath,
    config: run.config,
    datasets: {
      ...before?.datasets,
      ...Object.fromEntries(
        datasets.map(({ spec, parts, base }) => [
          spec.name,
          {
            output: outputOf(run, spec),
            parts,
            base,
            source: sourceOf(spec, run.nameStyle),
            ...earlierSettings(before?.datasets[spec.name], base),
          },
        ]),
      ),
    },
  };
  folder.writeManifest(manifest);
  for (const dataset of datasets) await folder.prompts.keepSystem(dataset.agentSystem);
  const start: RunStart = { type: "run-start", at, folder: folder.path, programVersion, datasets: plan.datasets };
  await folder.record(start);
  return start;
}

/** Settings of records that were kept when they changed, so that drift can be told in words later too. */
function earlierSettings(before: ManifestDataset | undefined, base: string): Pick<ManifestDataset, "earlier"> {
  if (!before) return {};
  const all = [{ parts: before.parts, base: before.base }, ...(before.earlier ?? [])];
  const earlier = all.filter((settings) => settings.base !== base);
  return earlier.length > 0 ? { earlier } : {};
}

export function outputOf(run: { folder: string }, dataset: Pick<DatasetSpec, "name" | "output" | "rounds">): string {
  if (dataset.rounds) return join(run.folder, `iter${ROUND}.jsonl`);
  return dataset.output ?? defaultOutput(run.folder, dataset.name);
}

/** The files that a run's datasets have by now, by name; those of rounds each under its own. */
export function outputFiles(run: RunSpec): { [name: string]: string } {
  const named = run.datasets.flatMap((dataset) => {
    const output = outputOf(run, dataset);
    if (!dataset.rounds) return [[dataset.name, output]];
    return roundFiles(output).map((file) => [basename(file, ".jsonl"), file]);
  });
  return Object.fromEntries(named);
}

function tellOfQueries({ spec, queries }: PreparedDataset, note: (message: string) => void): void {
  if (queries.repeats > 0) note(`${spec.name}: ${queries.repeats} repeated queries were left out`);
  for (const { id, keptAs, first, second } of queries.clashes) {
    const places = `${first.file}:${first.line} and ${second.file}:${second.line}`;
    note(`${spec.name}: id "${id}" stands for two queries (${places}); the second is "${keptAs}"`);
  }
}
