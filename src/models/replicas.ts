// Several servers behind one name. A rollout starts on the least loaded one and stays there, so that the server's prefix
// cache keeps working; when its server fails, it moves to one that works.
import type { ModelClient, RequestOrigin, RolloutKey } from "../core/index.ts";
import { ModelFailure } from "./failure.ts";
import { type EndpointGate, type Gates, withLimits } from "./limits.ts";
import type { CallSettings, ResolvedModel } from "./resolved.ts";
import { type RetryOptions, withRetry } from "./retry.ts";
import type { StartCheck } from "./start-check.ts";

export type Replica = { client: ModelClient; gate: Pick<EndpointGate, "inFlight" | "waiting" | "isHealthy"> };

export type ComposeDeps = Omit<RetryOptions, "maxRetries"> & { gates: Gates; starts?: StartCheck };

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
  const client = only && replicas.length === 1 ? only.client : withReplicas(model.id, replicas);
  return withRetry(client, { ...deps, maxRetries: settings.maxRetries });
}

/** More rollouts than ever run at once. */
const MAX_REMEMBERED = 50_000;

export function withReplicas(id: string, replicas: readonly Replica[]): ModelClient {
  const homes = new Map<string, Replica>();

  return {
    id,
    async complete(request, signal) {
      const home = homeOf(request.origin);
      try {
        return await home.client.complete(request, signal);
      } catch (error) {
        const other = error instanceof ModelFailure && error.retryable ? leastLoaded(home) : undefined;
        if (!other) throw error;
        settle(nameOf(request.origin), other);
        // the next attempt goes elsewhere, so the wait that this server asked for can be skipped
        throw withoutRetryAfter(error as ModelFailure);
      }
    },
  };

  function homeOf(origin: RequestOrigin): Replica {
    const name = nameOf(origin);
    const home = homes.get(name);
    const next = home && (home.gate.isHealthy ? home : (leastLoaded(home) ?? home));
    return settle(name, next ?? leastLoaded() ?? anyLeastLoaded());
  }

  /** The map is ordered by last use, so the first entry is the oldest and is dropped. */
  function settle(name: string, replica: Replica): Replica {
    homes.delete(name);
    homes.set(name, replica);
    if (homes.size > MAX_REMEMBERED) homes.delete(homes.keys().next().value as string);
    return replica;
  }

  function leastLoaded(except?: Replica): Replica | undefined {
    return lightest(replicas.filter((replica) => replica !== except && replica.gate.isHealthy));
  }

  function anyLeastLoaded(): Replica {
    const replica = lightest(replicas);
    if (!replica) throw new Error(`${id} has no base URL`);
    return replica;
  }
}

function lightest(replicas: readonly Replica[]): Replica | undefined {
  const load = ({ gate }: Replica) => gate.inFlight + gate.waiting;
  return replicas.reduce<Replica | undefined>(
    (best, next) => (best && load(best) <= load(next) ? best : next),
    undefined,
  );
}

function nameOf(key: RolloutKey): string {
  return `${key.dataset}\n${key.queryId}\n${key.rollout}`;
}

function withoutRetryAfter(error: ModelFailure): ModelFailure {
  return error.retryAfterMs === undefined ? error : error.restate({ retryAfterMs: undefined });
}
