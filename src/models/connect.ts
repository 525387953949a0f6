// The one place where model names become clients. All clients of a run share its connections and the gates of its
// endpoints, so that limits apply to all of them together. Packages that a dialect needs are loaded at its first call.
import {
  type Clock,
  learnEnvironment,
  learnSecret,
  type ModelClient,
  type Random,
  type Variables,
} from "../core/index.ts";
import { findDialect } from "./dialects/index.ts";
import type { ModelFailure } from "./failure.ts";
import { fillBodies } from "./fill-bodies.ts";
import { createDispatchers } from "./http.ts";
import { createGates, type EndpointEvent, type EndpointGate } from "./limits.ts";
import { acceptedSettings } from "./refusals.ts";
import { explainRefusals } from "./refused-settings.ts";
import type { Registry } from "./registry.ts";
import { composeEndpoint, type Sticky } from "./replicas.ts";
import { type ResolveContext, resolveModel } from "./resolve.ts";
import type { CallSettings, ResolvedModel, SettingPlaces } from "./resolved.ts";
import type { RetryWait } from "./retry.ts";
import { learnModel } from "./secrets.ts";
import { StartCheck } from "./start-check.ts";

export type ModelsDeps = {
  /** keys, proxies and variables that the registry refers to are read only from here */
  env: Variables;
  registry?: Registry;
  clock: Clock;
  random: Pick<Random, "next">;
  /** an endpoint is making callers wait, is left alone, or is back */
  onEvent?: (event: EndpointEvent) => void;
  /** one call will be tried again */
  onWait?: (wait: RetryWait) => void;
  /** a setting is not sent, or not as it is written */
  onNote?: (text: string) => void;
  /** the run's name, for headers that tell it */
  run?: string;
  /** what stays on one of several replicas */
  sticky?: Sticky;
  /** seconds that an answer may pause once it has begun */
  idleSeconds?: number;
  /** seconds for making a connection */
  connectSeconds?: number;
};

/** What a dataset or the command line sets instead of the registry. */
type ModelOverrides = NonNullable<ResolveContext["overrides"]> & { places?: SettingPlaces };

type EndpointLoad = {
  endpoint: string;
  inFlight: number;
  waiting: number;
  /** what the waiting ones wait for, and until when, if that is known */
  hold?: { reason: string; until?: string };
};

/** The current load, and how often calls were retried, by reason. */
export type NetworkLoad = {
  endpoints: EndpointLoad[];
  retries: { [kind: string]: number };
  /** calls that wait before they are tried again, by the class of their failure */
  backingOff: { [kind: string]: number };
};

export interface Models {
  /** A client with retries, limits and replicas around it. The caller must handle scripted names first. */
  client(name: string, settings: CallSettings, overrides?: ModelOverrides): ModelClient;
  /** Throws a UsageError for a name that does not resolve and for a missing key. */
  resolve(name: string, overrides?: ModelOverrides): ResolvedModel;
  /** This dataset was played before: a first prompt that does not fit is most likely its rollout's own affair. */
  trustPrompts(dataset: string): void;
  /** No new call begins and none is retried; calls in flight may finish. */
  park(): void;
  load(): NetworkLoad;
  /** Drops every connection; calls in flight fail. */
  close(): Promise<void>;
}

export function createModels(options: ModelsDeps): Models {
  const { env, registry, clock, random, onEvent, onWait, onNote, idleSeconds, connectSeconds, run, sticky } = options;
  learnEnvironment(env);
  const dispatchers = createDispatchers(env, connectSeconds);
  const gates = createGates({ clock, onEvent });
  const starts = new StartCheck();
  const deps = { env, dispatchers, clock, idleSeconds, run, onNote };
  const parking = new AbortController();
  const retries: NetworkLoad["retries"] = {};
  const backingOff = new Map<string, number>();
  const countRetry = (wait: RetryWait) => {
    retries[wait.error.kind] = (retries[wait.error.kind] ?? 0) + 1;
    countWaiting(wait.error, 1);
    onWait?.(wait);
  };
  const countWaiting = ({ kind }: ModelFailure, change: number) =>
    backingOff.set(kind, (backingOff.get(kind) ?? 0) + change);
  const onWaited = (error: ModelFailure) => countWaiting(error, -1);
  const holdOf = (gate: EndpointGate) => {
    const { reason, milliseconds } = gate.hold;
    if (reason === "" || gate.waiting === 0) return undefined;
    const isOpen = milliseconds === Number.POSITIVE_INFINITY;
    return { reason, until: isOpen ? undefined : new Date(clock.now() + milliseconds).toISOString() };
  };

  function resolve(name: string, overrides: ModelOverrides = {}): ResolvedModel {
    const model = resolveModel(name, { env, overrides, registry });
    const own = model.dialect === "scripted" ? [] : (findDialect(model.dialect).secrets?.(env) ?? []);
    for (const secret of own) learnSecret(secret);
    learnModel(model);
    return model;
  }

  return {
    resolve,
    client(name, written, overrides) {
      const resolved = resolve(name, overrides);
      if (resolved.dialect === "scripted") throw new Error(`${name} is a scripted model: it has no endpoint`);
      const accepted = acceptedSettings(resolved, written);
      for (const text of accepted.leftOut) onNote?.(text);
      const { model, settings } = fillBodies(resolved, accepted.settings, env);
      const dialect = findDialect(model.dialect);
      const sent = { model: resolved, settings: accepted.settings, places: overrides?.places };
      const connect = (replica: ResolvedModel) => explainRefusals(dialect.createClient(replica, settings, deps), sent);
      return composeEndpoint({
        model,
        settings,
        deps: { gates, starts, sticky, clock, random, onWait: countRetry, onWaited, park: parking.signal },
        connect,
      });
    },
    trustPrompts: (dataset) => starts.prompts.trust(dataset),
    park() {
      parking.abort();
      for (const gate of gates.all()) gate.park();
    },
    load: () => ({
      endpoints: [...gates.all()].map((gate) => {
        const { endpoint, inFlight, waiting } = gate;
        return { endpoint, inFlight, waiting, hold: holdOf(gate) };
      }),
      retries: { ...retries },
      backingOff: Object.fromEntries([...backingOff].filter(([, number]) => number > 0)),
    }),
    close: () => dispatchers.close(),
  };
}
