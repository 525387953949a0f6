// The models of a run over the network: clients that share connections and limits, recorded on a cassette where that is
// asked for; or, from a cassette, clients that need neither network nor key.
import { type Clock, createRandom, type RunEvent, timestamp } from "../core/index.ts";
import {
  createModels,
  createRedactor,
  createReplayClient,
  type ModelOverrides,
  type NetworkLoad,
  type Registry,
  type ResolvedModel,
  resolveModel,
  withCassette,
} from "../models/index.ts";
import { recordInto, replayFrom } from "./cassette-folder.ts";
import type { CreateNetworkClient, NetworkClient } from "./clients.ts";
import type { PartySpec } from "./spec.ts";

/** Folders that model calls are recorded into, or answered from. */
export type Cassette = { record: string } | { replay: string };

export type NetworkOptions = {
  registry: Registry;
  env: Readonly<Record<string, string | undefined>>;
  clock: Clock;
  onEvent?: ((event: RunEvent) => void) | undefined;
  cassette?: Cassette | undefined;
  connectSeconds?: number | undefined;
  idleSeconds?: number | undefined;
};

export type Network = {
  createClient: CreateNetworkClient;
  /** no further call begins */
  park(): void;
  load(): NetworkLoad;
  close(): Promise<void>;
};

export function openNetwork(options: NetworkOptions): Network {
  return options.cassette && "replay" in options.cassette
    ? openReplay(options.cassette.replay, options)
    : openModels(options);
}

function openModels(options: NetworkOptions): Network {
  const { registry, env, clock, onEvent, cassette, connectSeconds, idleSeconds } = options;
  const models = createModels({
    env,
    registry,
    clock,
    connectSeconds,
    idleSeconds,
    random: createRandom("back-off", clock.now()), // no dialogue depends on it
    onEvent: ({ type, endpoint, seconds, reason }) => {
      if (type !== "endpoint-resume")
        onEvent?.({ type: "endpoint-wait", at: timestamp(clock), endpoint, seconds, reason });
    },
  });
  let redact = createRedactor([]);
  const tape = cassette && "record" in cassette ? recordInto(cassette.record, (text) => redact(text)) : undefined;
  return {
    createClient(party) {
      const model = models.resolve(party.model, overridesOf(party));
      const client = models.client(party.model, party.settings, overridesOf(party));
      redact = createRedactor(models.secrets());
      return withFacts(tape ? withCassette(client, tape, { model, settings: party.settings }) : client, model);
    },
    park: () => models.park(),
    load: () => models.load(),
    async close() {
      await models.close();
      await tape?.close();
    },
  };
}

function openReplay(folder: string, { registry, env }: NetworkOptions): Network {
  const tape = replayFrom(folder);
  return {
    createClient(party) {
      const overrides = overridesOf(party);
      const model = resolveModel(party.model, { registry, env, overrides, allowMissingKeys: true });
      return withFacts(createReplayClient(tape, { model, settings: party.settings }), model);
    },
    park: () => {},
    load: () => ({ endpoints: [], retries: {} }),
    close: () => tape.close(),
  };
}

function withFacts(client: NetworkClient, { prices, contextLength, reasoning }: ResolvedModel): NetworkClient {
  const reasoningSpan = reasoning.sendBack === "all" ? "dialogue" : "turn";
  return { ...client, reasoningSpan, facts: { prices, contextLength } };
}

function overridesOf({ apiBase, apiKey }: PartySpec): ModelOverrides {
  return { ...(apiBase ? { apiBase } : {}), ...(apiKey ? { apiKey } : {}) };
}
