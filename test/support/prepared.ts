// What the runner works with, for tests of its parts: a prepared run of a bundled domain with a test's own models, and
// the folder that it is played into.
import { onTestFinished } from "vitest";
import { type Config, type ConfigPatch, type ResolvedRun, resolveConfig } from "../../src/config/index.ts";
import type { ModelClient, RunEvent } from "../../src/core/index.ts";
import { openResources } from "../../src/domains/index.ts";
import { CallsInFlight } from "../../src/runner/calls-in-flight.ts";
import { type PreparedDataset, prepareDataset } from "../../src/runner/index.ts";
import { RunContext } from "../../src/runner/run-context.ts";
import { RunFolder } from "../../src/runs/index.ts";
import { createTickingClock, temporaryFolder } from "./play.ts";

export type PreparedScene = {
  config?: Config;
  patch?: ConfigPatch;
  models?: { [name: string]: ModelClient };
  folder?: string;
};

export type Prepared = { run: ResolvedRun; dataset: PreparedDataset };

export async function prepare({ config = {}, patch, models = {}, folder }: PreparedScene = {}): Promise<Prepared> {
  const run = resolveConfig(
    { datasets: ["StudentAcademicPortal"], bundled: true, sync: "never", ...config },
    { folder: folder ?? temporaryFolder(), patch },
  );
  const resources = openResources({ env: {}, nameStyle: run.config.tool_names, onNotice: () => {} });
  const createNetworkClient = ({ model }: { model: string }) => models[model] as ModelClient;
  const [spec] = run.datasets;
  if (!spec) throw new Error("the test's config has no dataset");
  return { run, dataset: await prepareDataset(run, spec, { createNetworkClient, resources }) };
}

export function openFolder({ folder, config }: ResolvedRun): RunFolder {
  const opened = new RunFolder({ path: folder, sync: config.sync, checkpoints: config.use_checkpoints });
  onTestFinished(() => opened.close().catch(() => {}));
  return opened;
}

export function openContext(run: ResolvedRun, folder: RunFolder, park = new AbortController().signal) {
  const events: RunEvent[] = [];
  const abort = new AbortController().signal;
  const clock = createTickingClock();
  const calls = new CallsInFlight(clock);
  const context = new RunContext({ run, store: folder, clock, calls, park, abort }, (event) => events.push(event));
  return { context, events };
}
