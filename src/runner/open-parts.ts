// What rollouts are played with, opened: the network, tool servers, datasets made ready. The same for a run that plays here
// and for a worker of a queue.
import { basename } from "node:path";
import type { ResolvedRun } from "../config/index.ts";
import { type Clock, type RunEvent, systemClock, type Variables } from "../core/index.ts";
import { openResources } from "../domains/index.ts";
import { type CreateNetworkClient, type OwnModels, openNetwork, withOwnModels } from "../models/index.ts";
import type { Telemetry } from "../telemetry/index.ts";
import { CallsInFlight } from "./calls-in-flight.ts";
import { type PreparedDataset, prepareDataset } from "./prepare-dataset.ts";

type PartsOptions = {
  env?: Variables;
  clock?: Clock;
  onEvent(event: RunEvent): void;
  note(message: string): void;
  telemetry?: Telemetry;
  createNetworkClient?: CreateNetworkClient;
  agents?: OwnModels;
};

type Parts = {
  network: ReturnType<typeof openNetwork>;
  calls: CallsInFlight;
  createNetworkClient: CreateNetworkClient;
  prepare(): Promise<PreparedDataset[]>;
};

/** What is opened is added to `open`. */
export function openParts(run: ResolvedRun, options: PartsOptions, open: { close(): Promise<void> }[]): Parts {
  const { env = {}, clock = systemClock, onEvent, note, telemetry } = options;
  const { tool_names: nameStyle, python, python_processes: pythonProcesses } = run.config;
  const { tool_timeout: toolSeconds, max_workers: maxWorkers } = run.config;
  const network = openNetwork({ ...networkOptions(run), env, clock, onEvent, onRetry: telemetry?.onRetry });
  const resources = openResources({
    ...{ env, nameStyle, python, pythonProcesses, toolSeconds, maxWorkers },
    timed: run.datasets.some(({ stops }) => stops.max_rollout_seconds !== undefined),
    onNotice: note,
  });
  open.push(network, resources);
  const createNetworkClient = withOwnModels(options.agents ?? {}, options.createNetworkClient ?? network.createClient);
  return {
    network,
    calls: new CallsInFlight(clock),
    createNetworkClient,
    prepare: () =>
      Promise.all(run.datasets.map((spec) => prepareDataset(run, spec, { createNetworkClient, resources }))),
  };
}

/** What the network needs to know about a run. */
export function networkOptions({ config, registry, folder }: ResolvedRun) {
  const { record, replay, connect_timeout: connectSeconds, idle_timeout: idleSeconds, sticky } = config;
  return { registry, record, replay, connectSeconds, idleSeconds, sticky, run: basename(folder) };
}
