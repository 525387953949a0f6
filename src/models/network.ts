// The models of a run over the network: clients that share connections and limits, recorded on a cassette
// if requested; or, from a cassette, clients that need neither network nor key.
import { type Clock, createRandom, type RunEvent, timestamp, type Variables } from "../core/index.ts";
import { describeShortage } from "../files/index.ts";
import { createReplayClient, withCassette } from "./cassettes/cassette.ts";
import { recordInto, replayFrom } from "./cassettes/cassette-folder.ts";
import type { CreateNetworkClient, NetworkClient } from "./client-source.ts";
import { createModels, type NetworkLoad } from "./connect.ts";
import { withRedaction } from "./redact-reply.ts";
import type { Registry } from "./registry.ts";
import type { Sticky } from "./replicas.ts";
import { resolveModel } from "./resolve.ts";
import type { ResolvedModel } from "./resolved.ts";
import type { RetryWait } from "./retry.ts";
import { learnCallSettings } from "./secrets.ts";

export type NetworkOptions = {
  registry: Registry;
  env: Variables;
  clock: Clock;
  onEvent?: (event: RunEvent) => void;
  /** one call will be tried again */
  onRetry?: (wait: RetryWait) => void;
  /** a folder that model calls are recorded into */
  record?: string;
  /** a folder that model calls are answered from, instead of the network */
  replay?: string;
  connectSeconds?: number;
  idleSeconds?: number;
  /** what stays on one of several replicas; by default each rollout */
  sticky?: Sticky;
  /** the run's name, for headers that tell it */
  run?: string;
};

export type Network = {
  createClient: CreateNetworkClient;
  /** this dataset was played before, so its first prompts fit */
  trustPrompts(dataset: string): void;
  /** no new call begins */
  park(): void;
  load(): NetworkLoad;
  close(): Promise<void>;
};

export function openNetwork(options: NetworkOptions): Network {
  return options.replay === undefined ? openModels(options) : openReplay(options.replay, options);
}

function openModels(options: NetworkOptions): Network {
  const { registry, env, clock, onEvent, onRetry, record, connectSeconds, idleSeconds, sticky, run } = options;
  let isShort = false;
  const onWait = (wait: RetryWait) => {
    const { error } = wait;
    onRetry?.(wait);
    if (error.kind === "local" && !isShort)
      onEvent?.({ type: "run-note", at: timestamp(clock), message: describeShortage() });
    isShort ||= error.kind === "local";
  };
  const noted = new Set<string>();
  const onNote = (message: string) => {
    if (!noted.has(message)) onEvent?.({ type: "run-note", at: timestamp(clock), message });
    noted.add(message);
  };
  const models = createModels({
    env,
    registry,
    clock,
    connectSeconds,
    idleSeconds,
    sticky,
    onWait,
    onNote,
    run,
    random: createRandom("back-off", clock.now()), // dialogues do not depend on it
    onEvent: ({ type, endpoint, seconds, reason }) => {
      if (type !== "endpoint-resume")
        onEvent?.({ type: "endpoint-wait", at: timestamp(clock), endpoint, seconds, reason });
    },
  });
  const tape = record === undefined ? undefined : recordInto(record);
  return {
    createClient(party) {
      const model = models.resolve(party.model, party);
      const client = withRedaction(models.client(party.model, party.settings, party));
      return withFacts(tape ? withCassette(client, tape, { model, settings: party.settings }) : client, model);
    },
    trustPrompts: (dataset) => models.trustPrompts(dataset),
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
      const model = resolveModel(party.model, { registry, env, overrides: party, allowMissingKeys: true });
      learnCallSettings(party.settings);
      return withFacts(withRedaction(createReplayClient(tape, { model, settings: party.settings })), model);
    },
    trustPrompts: () => {},
    park: () => {},
    load: () => ({ endpoints: [], retries: {}, backingOff: {} }),
    close: () => tape.close(),
  };
}

function withFacts(
  client: NetworkClient,
  { prices, contextLength, unlisted, reasoning, provider, model, baseUrls, toolFormat }: ResolvedModel,
): NetworkClient {
  const reasoningSpan = reasoning.sendBack === "all" ? "dialogue" : "turn";
  return {
    ...client,
    reasoningSpan,
    toolFormat,
    facts: { prices, contextLength, unlisted, endpoint: { provider, model, baseUrls } },
  };
}
