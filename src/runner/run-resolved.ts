// A resolved config, run with real models behind it: the one wiring that the command line and the library share.
import { createRandom, type RunEvent, systemClock, timestamp } from "../core/index.ts";
import { createModels, type Models } from "../models/index.ts";
import type { CreateNetworkClient } from "./clients.ts";
import type { ResolvedRun } from "./config/resolve.ts";
import { type DryDataset, dryRun } from "./dry-run.ts";
import { createResources } from "./resources.ts";
import { type RunOptions, type RunResult, runRollouts } from "./run-rollouts.ts";

export type RunResolvedOptions = Omit<RunOptions, "createNetworkClient" | "env"> & {
  /** where keys, proxies and references of the config are read from */
  env: Readonly<Record<string, string | undefined>>;
};

export async function runResolved({ run, registry }: ResolvedRun, options: RunResolvedOptions): Promise<RunResult> {
  const models = modelsFor(registry, options);
  try {
    return await runRollouts(run, { ...options, createNetworkClient: clientsOf(models) });
  } finally {
    await models.close();
  }
}

export async function dryRunResolved(
  { run, registry }: ResolvedRun,
  options: RunResolvedOptions,
): Promise<DryDataset[]> {
  const models = modelsFor(registry, options);
  const resources = createResources({
    env: options.env,
    nameStyle: run.nameStyle,
    onNotice: () => {},
    ...(run.python ? { python: run.python } : {}),
  });
  try {
    return await dryRun(run, { createNetworkClient: clientsOf(models), resources });
  } finally {
    await Promise.all([models.close(), resources.close()]);
  }
}

function modelsFor(
  registry: ResolvedRun["registry"],
  { env, onEvent, clock = systemClock }: RunResolvedOptions,
): Models {
  const emit = (event: RunEvent) => onEvent?.(event);
  return createModels({
    env,
    registry,
    clock,
    random: createRandom("back-off", clock.now()), // no dialogue depends on it
    onEvent: ({ type, endpoint, seconds, reason }) => {
      if (type !== "endpoint-resume") emit({ type: "endpoint-wait", at: timestamp(clock), endpoint, seconds, reason });
    },
  });
}

function clientsOf(models: Models): CreateNetworkClient {
  return ({ model, settings, apiBase, apiKey }) => {
    const overrides = { ...(apiBase ? { apiBase } : {}), ...(apiKey ? { apiKey } : {}) };
    const { sendBack } = models.resolve(model, overrides).reasoning;
    return { ...models.client(model, settings, overrides), reasoningSpan: sendBack === "all" ? "dialogue" : "turn" };
  };
}
