// `rollout replay`: every record of a run, its calls made again and compared. Nothing is written, and no model is asked.
import { createServerOpener, type FullConfig } from "../config/index.ts";
import { didYouMean, isObject, UsageError, type Variables } from "../core/index.ts";
import { openResources } from "../domains/index.ts";
import { type Manifest, openRun } from "../runs/index.ts";
import { openStoredDatasets } from "../scoring/index.ts";
import { countRecords, readRecords } from "./read-records.ts";
import { replayRecord } from "./replay-record.ts";
import { ReplayTally, type ReplayTotals } from "./replay-tally.ts";

export type ReplayRunOptions = {
  folder: string;
  /** tool servers get a short list of it; MCP servers the variables that their config names */
  env: Variables;
  /** of records, or of queries: then all their rollouts */
  ids?: string[];
  datasets?: string[];
  /** records at once */
  maxWorkers?: number;
  /** set: no further record is begun */
  park?: AbortSignal;
  onProgress?: (done: number, total: number) => void;
  onNotice?: (message: string) => void;
};

export type ReplayedRun = ReplayTotals & {
  folder: string;
  /** what people should know, such as that a domain changed since the run */
  notices: string[];
};

const MAX_WORKERS = 8;

export async function replayRun(options: ReplayRunOptions): Promise<ReplayedRun> {
  const { env, maxWorkers = MAX_WORKERS, park, onProgress } = options;
  const { path, manifest } = openRun(options.folder);
  const chosen = { ...manifest, datasets: chooseDatasets(options.folder, manifest, options.datasets) };
  const notices: string[] = [];
  const onNotice = (message: string) => {
    notices.push(message);
    options.onNotice?.(message);
  };
  const total = countRecords(path, chosen, options, onNotice);
  const config = configOf(manifest);
  const { tool_names: nameStyle = "prefixed", python, python_processes: pythonProcesses } = config;
  const { tool_timeout: toolSeconds } = config;
  const resources = openResources({ env, nameStyle, python, pythonProcesses, toolSeconds, maxWorkers, onNotice });
  const tally = new ReplayTally();
  try {
    const openServers = createServerOpener(manifest, path, resources);
    const datasets = await openStoredDatasets(path, chosen, { ...resources, openServers, onNotice });
    const records = readRecords(datasets, options.ids);
    const work = async () => {
      for (const { dataset, trajectory, index } of records) {
        if (park?.aborted) return;
        tally.add(index, await replayRecord(trajectory, dataset));
        onProgress?.(tally.done, total);
      }
    };
    await Promise.all(Array.from({ length: maxWorkers }, work));
  } finally {
    await resources.close();
  }
  return { folder: options.folder, ...tally.totals(total), notices };
}

function chooseDatasets(folder: string, { datasets }: Manifest, wanted: string[] | undefined): Manifest["datasets"] {
  const names = Object.keys(datasets);
  const unknown = wanted?.find((name) => !names.includes(name));
  if (unknown !== undefined)
    throw new UsageError(
      `There is no dataset "${unknown}" in ${folder}${didYouMean(unknown, names) || "."} There are: ${names.join(", ")}`,
    );
  return Object.fromEntries(Object.entries(datasets).filter(([name]) => wanted?.includes(name) ?? true));
}

function configOf({ config }: Manifest): Partial<FullConfig> {
  return isObject(config) ? (config as Partial<FullConfig>) : {};
}
