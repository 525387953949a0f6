// A resolved config, run with real models behind it: the one wiring that the command line and the library share.
import { systemClock } from "../core/index.ts";
import type { NetworkLoad } from "../models/index.ts";
import type { ResolvedRun } from "./config/resolve.ts";
import { type DryDataset, dryRun } from "./dry-run.ts";
import { type Cassette, type NetworkOptions, openNetwork } from "./network.ts";
import { createResources } from "./resources.ts";
import { type RunOptions, type RunResult, runRollouts } from "./run-rollouts.ts";

export type RunResolvedOptions = Omit<RunOptions, "createNetworkClient" | "env" | "onPark"> & {
  /** where keys, proxies and references of the config are read from */
  env: Readonly<Record<string, string | undefined>>;
  /** record the model calls, or play recorded ones */
  cassette?: Cassette | undefined;
  /** given, before the run starts, a way to see what its endpoints are doing */
  watchNetwork?: (load: () => NetworkLoad) => void;
};

export async function runResolved(resolved: ResolvedRun, options: RunResolvedOptions): Promise<RunResult> {
  const { run } = resolved;
  const network = openNetwork(networkOptions(resolved, options));
  try {
    options.watchNetwork?.(network.load);
    return await runRollouts(run, { ...options, createNetworkClient: network.createClient, onPark: network.park });
  } finally {
    await network.close();
  }
}

function networkOptions({ registry, config }: ResolvedRun, options: RunResolvedOptions): NetworkOptions {
  const limits = { connectSeconds: config.connect_timeout, idleSeconds: config.idle_timeout };
  return { clock: systemClock, ...options, ...limits, registry };
}

export async function dryRunResolved(resolved: ResolvedRun, options: RunResolvedOptions): Promise<DryDataset[]> {
  const { run } = resolved;
  const network = openNetwork(networkOptions(resolved, options));
  const resources = createResources({
    env: options.env,
    nameStyle: run.nameStyle,
    onNotice: () => {},
    ...(run.python ? { python: run.python } : {}),
  });
  try {
    return await dryRun(run, { createNetworkClient: network.createClient, resources });
  } finally {
    await Promise.all([network.close(), resources.close()]);
  }
}
