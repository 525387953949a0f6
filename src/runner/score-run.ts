// Scoring a run by its folder: what `rollout eval` does, for programs too.
import { join } from "node:path";
import { isObject, systemClock, UsageError } from "../core/index.ts";
import { type Registry, registryFileSchema } from "../models/index.ts";
import { type Manifest, readManifest } from "../runs/index.ts";
import {
  type EvaluationCounts,
  type EvaluationSettings,
  evaluate,
  evaluationSchema,
  type ScoreRecord,
} from "../scoring/index.ts";
import { openNetwork } from "./network.ts";
import { createResources } from "./resources.ts";
import { planScoring } from "./score-as-it-goes.ts";
import { scoredFromManifest } from "./scored-datasets.ts";
import { DEFAULTS } from "./spec.ts";

export type ScoreRunOptions = {
  folder: string;
  /** on top of what the run's own config says in `eval` */
  settings?: EvaluationSettings;
  /** where keys are read from; tool servers get a short list of it */
  env: Readonly<Record<string, string | undefined>>;
  /** instead of the models that the run's config registered */
  registry?: Registry | undefined;
  basePath?: string | undefined;
  python?: string | undefined;
  maxWorkers?: number | undefined;
  /** set: no further rollout is begun */
  park?: AbortSignal;
  onScore?: (score: ScoreRecord) => void;
  onNotice?: (message: string) => void;
};

export async function scoreRun(options: ScoreRunOptions): Promise<EvaluationCounts> {
  const { folder, env, python, basePath, onNotice = () => {} } = options;
  const manifest = requireManifest(folder);
  const settings = settingsOf(manifest, options.settings);
  const resources = createResources({ env, nameStyle: "prefixed", onNotice, ...(python ? { python } : {}) });
  const network = openNetwork({ registry: options.registry ?? registryOf(manifest), env, clock: systemClock });
  try {
    return await evaluate({
      ...(await planScoring(settings, network.createClient)),
      folder,
      datasets: await scoredFromManifest(folder, manifest, { ...resources, basePath, onNotice }),
      workers: options.maxWorkers ?? DEFAULTS.maxWorkers,
      ...(options.park ? { park: options.park } : {}),
      ...(options.onScore ? { onScore: options.onScore } : {}),
    });
  } finally {
    await Promise.all([network.close(), resources.close()]);
  }
}

export function requireManifest(folder: string): Manifest {
  const manifest = readManifest(join(folder, "manifest.json"));
  if (!manifest) throw new UsageError(`${folder} is not a run folder: it has no manifest.json`);
  return manifest;
}

/** The config's own `eval`, and what is said on top of it. */
export function settingsOf({ config }: Manifest, more: EvaluationSettings = {}): EvaluationSettings {
  const own = isObject(config) ? evaluationSchema.safeParse(config.eval).data : undefined;
  return { ...own, ...more };
}

/** Keys are in a manifest by name only, and a name alone is no key: the provider's own variable is used. */
function registryOf({ config }: Manifest): Registry {
  const models = isObject(config) && isObject(config.models) ? config.models : {};
  const withoutKeys = Object.entries(models).map(([name, entry]) => {
    if (!isObject(entry)) return [name, entry];
    const { api_key: _key, ...rest } = entry;
    return [name, rest];
  });
  return registryFileSchema.safeParse({ models: Object.fromEntries(withoutKeys) }).data?.models ?? {};
}
