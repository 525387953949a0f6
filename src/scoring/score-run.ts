// Scoring a run by its folder: what `rollout eval` does, for programs too.
import { dropUndefined, isObject, raceAbort, systemClock, type Variables } from "../core/index.ts";
import { openResources, type RunResources } from "../domains/index.ts";
import { openNetwork, type Registry, registryFileSchema } from "../models/index.ts";
import { type Manifest, openRun } from "../runs/index.ts";
import type { NameStyle, PoolSize } from "../tools/index.ts";
import { type EvaluationCounts, evaluate } from "./evaluate.ts";
import { openScoredDatasets } from "./scored-datasets.ts";
import { createScorer } from "./scorer.ts";
import type { ScoreRecord } from "./scores.ts";
import { type EvaluationSettings, evaluationSchema } from "./settings.ts";
import type { StoredFromOptions } from "./stored-datasets.ts";

/** Opens the MCP servers of a run's datasets, which its config names. */
type OpenStoredServers = (
  manifest: Manifest,
  folder: string,
  resources: RunResources,
) => NonNullable<StoredFromOptions["openServers"]>;

export type ScoreRunOptions = {
  folder: string;
  /** without it, calls to MCP servers are compared by name and arguments only */
  openServers?: OpenStoredServers;
  /** on top of `eval` in the run's own config */
  settings?: EvaluationSettings;
  /** where keys are read from; tool servers get a short list of it */
  env: Variables;
  /** over the models that the run's config registered */
  registry?: Registry;
  basePath?: string;
  python?: string;
  /** rollouts at once; by default as many as the run had */
  maxWorkers?: number;
  /** scores everything again, also what has not changed */
  force?: boolean;
  /** set: no further rollout is begun */
  park?: AbortSignal;
  /** set: leave at once */
  abort?: AbortSignal;
  onScore?: (score: ScoreRecord) => void;
  /** one more is scored, or was before */
  onRollout?: () => void;
  onNotice?: (message: string) => void;
};

export async function scoreRun(options: ScoreRunOptions): Promise<EvaluationCounts> {
  const { folder, env, basePath, force, park, abort, onScore, onRollout, onNotice = () => {} } = options;
  const { manifest } = openRun(folder);
  const own = readRunSettings(manifest);
  const { python = own.python, maxWorkers = own.workers } = options;
  const registry = { ...own.registry, ...options.registry };
  const { pythonProcesses, toolSeconds, nameStyle } = own;
  const services = { env, registry, python, pythonProcesses, toolSeconds, nameStyle, park, onNotice };
  return withServices(services, async ({ resources, network }) => {
    const openServers = options.openServers?.(manifest, folder, resources);
    const opening = openScoredDatasets(folder, manifest, { ...resources, basePath, openServers, onNotice });
    return evaluate({
      ...(await createScorer(mergeSettings(manifest, options.settings), network.createClient)),
      folder,
      datasets: await raceAbort(opening, park),
      workers: maxWorkers,
      force,
      park,
      abort,
      onPause: onNotice,
      onScore,
      onRollout,
      onNotice,
    });
  });
}

type ServiceOptions = Pick<ScoreRunOptions, "env" | "registry" | "python" | "park"> & {
  pythonProcesses?: PoolSize;
  toolSeconds?: number;
  nameStyle?: NameStyle;
  onNotice(message: string): void;
};
type Services = { resources: RunResources; network: ReturnType<typeof openNetwork> };

/** Tools and models, open while they are used. */
export async function withServices<T>(
  { registry = {}, park, nameStyle = "prefixed", ...options }: ServiceOptions,
  use: (services: Services) => Promise<T>,
): Promise<T> {
  const { env, python, pythonProcesses, toolSeconds, onNotice } = options;
  const resources = openResources({ env, nameStyle, onNotice, python, pythonProcesses, toolSeconds });
  const network = openNetwork({ registry, env, clock: systemClock });
  if (park?.aborted) network.park();
  park?.addEventListener("abort", network.park);
  try {
    return await use({ resources, network });
  } finally {
    await Promise.all([network.close(), resources.close()]);
  }
}

/** The config's own `eval`, overridden by `more`. */
export function mergeSettings({ config }: Manifest, more: EvaluationSettings = {}): EvaluationSettings {
  const own = isObject(config) ? evaluationSchema.safeParse(config.eval).data : undefined;
  return { ...own, ...dropUndefined(more) };
}

type RunSettings = {
  registry: Registry;
  python: string | undefined;
  pythonProcesses: PoolSize | undefined;
  toolSeconds: number | undefined;
  nameStyle: NameStyle;
  workers: number;
};

/** A manifest holds keys by name only, and a name alone is not a key: the provider's own variable is used. */
export function readRunSettings({ config }: Manifest): RunSettings {
  const { models, python, python_processes, tool_timeout, tool_names, max_workers } = isObject(config) ? config : {};
  const withoutKeys = Object.entries(isObject(models) ? models : {}).map(([name, entry]) => {
    const { api_key: _key, ...rest } = entry as { api_key?: unknown };
    return [name, rest];
  });
  return {
    registry: registryFileSchema.safeParse({ models: Object.fromEntries(withoutKeys) }).data?.models ?? {},
    python: typeof python === "string" ? python : undefined,
    pythonProcesses: typeof python_processes === "number" ? python_processes : undefined,
    toolSeconds: typeof tool_timeout === "number" ? tool_timeout : undefined,
    nameStyle: tool_names === "dotted" ? "dotted" : "prefixed",
    workers: typeof max_workers === "number" ? max_workers : 1,
  };
}
