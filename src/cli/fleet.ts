// The queue that a run is put onto, if one is named.
import { UsageError } from "../core/index.ts";
import type { Fleet } from "../runner/index.ts";
import type { RunFlags } from "./flags.ts";
import type { Host } from "./host.ts";

type Joining = {
  say(text: string): void;
  abort: AbortSignal;
  /** by a person, here */
  isPlayed: boolean;
};

/** The database's code is loaded only here: a run without a queue needs none of it. */
export async function joinFleet({ env }: Host, flags: RunFlags, joining: Joining): Promise<Fleet | undefined> {
  const url = flags.queue ?? env.ROLLOUT_QUEUE;
  if (url === undefined || url === "") {
    if (flags.fleetLimit !== undefined)
      throw new UsageError("--fleet-limit is for the workers of a queue: name it with --queue");
    return undefined;
  }
  if (joining.isPlayed) {
    if (flags.queue === undefined) return undefined;
    throw new UsageError("A dialogue that you play yourself is played here: leave out --queue");
  }
  const { openFleet } = await import("../queue/index.ts");
  return openFleet({ url, env, fleetLimit: flags.fleetLimit, ...leaseOf(env), ...joining });
}

/** For tests, which cannot wait for a quarter of a minute. */
export function leaseOf({ ROLLOUT_LEASE_SECONDS: seconds }: Host["env"]): { leaseSeconds?: number } {
  return Number(seconds) > 0 ? { leaseSeconds: Number(seconds) } : {};
}
