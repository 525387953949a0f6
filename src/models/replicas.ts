// Several servers behind one name. A rollout, or a question with all its rollouts, starts on the least loaded one and stays
// there, so that the server's prefix cache keeps working; when its server fails, it moves to one that works.
import type { ModelClient, RolloutKey } from "../core/index.ts";
import { ModelFailure } from "./failure.ts";
import { type EndpointGate, type Gates, withLimits } from "./limits.ts";
import type { CallSettings, ResolvedModel } from "./resolved.ts";
import { type RetryOptions, withRetry } from "./retry.ts";
import type { StartCheck } from "./start-check.ts";

export type Replica = { client: ModelClient; gate: Pick<EndpointGate, "inFlight" | "waiting" | "isHealthy"> };

/** What stays on one replica: a rollout, or all rollouts of a question. */
export type Sticky = "rollout" | "question";

export type ComposeDeps = Omit<RetryOptions, "maxRetries"> & { gates: Gates; starts?: StartCheck; sticky?: Sticky };

/** A model's fully composed client, for any dialect: `connect` makes a bare client for one base URL. */
export function composeEndpoint(parts: {
  model: ResolvedModel;
  settings: CallSettings;
  deps: ComposeDeps;
  connect: (model: ResolvedModel) => ModelClient;
}): ModelClient {
  const { model, settings, deps } = parts;
  const replicas = model.baseUrls.map((baseUrl) => {
    const gate = deps.gates.for(baseUrl, model);
    const limited = withLimits(parts.connect({ ...model, baseUrls: [baseUrl] }), gate);
    return { gate, client: deps.starts?.watch(limited, { model, baseUrl, settings }) ?? limited };
  });
  const [only] = replicas;
  const client = only && replicas.length === 1 ? only.client : withReplicas(model.id, replicas, deps.sticky);
  return withRetry(client, { ...deps, maxRetries: settings.maxRetries });
}

/** More rollouts than ever run at once. */
const MAX_REMEMBERED = 50_000;

export function withReplicas(id: string, replicas: readonly Replica[], sticky: Sticky = "rollout"): ModelClient {
  const homes = new Map<string, Replica>();
  const settled = new Map<Replica, number>(); // how many have their home on each

  return {
    id,
    async complete(request, signal) {
      const name = nameOf(request.origin, sticky);
      const home = homeOf(name);
      try {
        return await home.client.complete(request, signal);
      } catch (error) {
        if (!(error instanceof ModelFailure) || !error.retryable || !leave(name, home)) throw error;
        // the next attempt goes elsewhere, so the wait that this server asked for can be skipped
        throw withoutRetryAfter(error);
      }
    },
  };

  function homeOf(name: string): Replica {
    const home = homes.get(name);
    const next = home && (home.gate.isHealthy ? home : (leastLoaded(home) ?? home));
    return settle(name, next ?? leastLoaded() ?? lightest(replicas));
  }

  /** Whether the next call goes elsewhere. Of several rollouts that share a home, the first to fail moves them all. */
  function leave(name: string, failed: Replica): boolean {
    const home = homes.get(name);
    if (home !== undefined && home !== failed) return true;
    const other = leastLoaded(failed);
    if (other) settle(name, other);
    return other !== undefined;
  }

  /** The map is ordered by last use, so the first entry is the oldest and is dropped. */
  function settle(name: string, replica: Replica): Replica {
    forget(name);
    homes.set(name, replica);
    settled.set(replica, (settled.get(replica) ?? 0) + 1);
    if (homes.size > MAX_REMEMBERED) forget(homes.keys().next().value as string);
    return replica;
  }

  function forget(name: string): void {
    const home = homes.get(name);
    if (home && homes.delete(name)) settled.set(home, (settled.get(home) ?? 1) - 1);
  }

  function leastLoaded(except?: Replica): Replica | undefined {
    const healthy = replicas.filter((replica) => replica !== except && replica.gate.isHealthy);
    return healthy.length > 0 ? lightest(healthy) : undefined;
  }

  /** By the calls that it has now; where these say nothing, by how many have their home there. */
  function lightest(some: readonly Replica[]): Replica {
    const load = ({ gate }: Replica) => gate.inFlight + gate.waiting;
    const homesOn = (replica: Replica) => settled.get(replica) ?? 0;
    const compare = (a: Replica, b: Replica) => load(a) - load(b) || homesOn(a) - homesOn(b);
    const [first, ...others] = some;
    if (!first) throw new Error(`${id} has no base URL`);
    return others.reduce((best, next) => (compare(best, next) <= 0 ? best : next), first);
  }
}

function nameOf({ dataset, queryId, rollout }: RolloutKey, sticky: Sticky): string {
  const question = `${dataset}\n${queryId}`;
  return sticky === "question" ? question : `${question}\n${rollout}`;
}

function withoutRetryAfter(error: ModelFailure): ModelFailure {
  return error.retryAfterMs === undefined ? error : error.restate({ retryAfterMs: undefined });
}
