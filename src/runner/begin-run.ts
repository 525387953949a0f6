// The start of a run: writes down what was asked for, and reports what people should know about the queries.
import { resolve } from "node:path";
import { hideKeys, type ResolvedRun } from "../config/index.ts";
import { PROGRAM_VERSION, timestamp } from "../core/index.ts";
import { FORMAT_VERSION, type Manifest, type ManifestDataset, type RunFolder } from "../runs/index.ts";
import { describeSource } from "../scoring/index.ts";
import { outputOf } from "./output-files.ts";
import type { RunPlan } from "./plan.ts";
import type { PreparedDataset } from "./prepare-dataset.ts";
import type { RunContext } from "./run-context.ts";

type Begun = { folder: RunFolder; datasets: PreparedDataset[]; plan: RunPlan; queueId?: string };

export async function beginRun(context: RunContext, { folder, datasets, plan, queueId }: Begun): Promise<void> {
  const { run, clock, note } = context;
  const before = folder.manifest;
  if (before && before.program_version !== PROGRAM_VERSION)
    note(`This run was started with rollout ${before.program_version}; this is ${PROGRAM_VERSION}`);
  if (before?.queue_id !== undefined && queueId === undefined)
    note(
      "This run was on a queue (--queue, ROLLOUT_QUEUE) and goes on here without it: what workers still record of it is not collected",
    );
  for (const dataset of datasets) noteOddQueries(dataset, note);
  const { split } = run.config;
  for (const { name, planned } of plan.datasets)
    if (split && planned === 0) note(`${name}: none of its queries is in share ${split}`);
  const at = timestamp(clock);
  const createdAt = before?.created_at ?? at;
  context.telemetry?.begin({ folder: folder.path, createdAt, datasets });
  folder.writeManifest({
    format_version: FORMAT_VERSION,
    program_version: PROGRAM_VERSION,
    node_version: process.version,
    created_at: createdAt,
    updated_at: at,
    seed: run.config.seed,
    working_directory: process.cwd(),
    journal: folder.journalPath,
    config_file: run.configFile && resolve(run.configFile),
    queue_id: queueId ?? before?.queue_id,
    config: hideKeys({ ...run.config, ...run.lasting }),
    datasets: {
      ...before?.datasets,
      ...Object.fromEntries(datasets.map((dataset) => [dataset.spec.name, describe(dataset, run, before)])),
    },
  });
  for (const dataset of datasets) await folder.prompts.keepSystem(dataset.systemOf().system);
  const programVersion = PROGRAM_VERSION;
  await context.record({ type: "run-start", at, folder: folder.path, programVersion, datasets: plan.datasets });
}

function describe({ spec, parts, base }: PreparedDataset, run: ResolvedRun, before?: Manifest): ManifestDataset {
  return {
    output: outputOf(run.folder, spec),
    parts,
    base,
    source: describeSource(spec, run.config.tool_names),
    earlier: earlierSettings(before?.datasets[spec.name], base),
  };
}

/** Settings that kept records were made under, so that drift can still be described later. */
function earlierSettings(before: ManifestDataset | undefined, base: string): ManifestDataset["earlier"] {
  if (!before) return undefined;
  const all = [{ parts: before.parts, base: before.base }, ...(before.earlier ?? [])];
  const earlier = all.filter((settings) => settings.base !== base);
  return earlier.length > 0 ? earlier : undefined;
}

function noteOddQueries({ spec, queries }: PreparedDataset, note: (message: string) => void): void {
  if (queries.repeats > 0) note(`${spec.name}: ${queries.repeats} repeated queries were left out`);
  for (const { id, keptAs, first, second } of queries.clashes) {
    const lines = `${first.file}:${first.line} and ${second.file}:${second.line}`;
    note(`${spec.name}: id "${id}" is used by two queries (${lines}); the second is "${keptAs}"`);
  }
}
