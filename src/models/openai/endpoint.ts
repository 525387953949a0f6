// A model behind OpenAI-compatible servers, ready for use: replicas, limits and retries around the bare dialect.
import type { ModelClient } from "../../core/index.ts";
import { type ComposeDeps, composeEndpoint } from "../replicas.ts";
import type { CallSettings, ResolvedModel } from "../resolved.ts";
import { createOpenAiClient, type OpenAiDeps } from "./client.ts";

export function createEndpointClient(
  model: ResolvedModel,
  settings: CallSettings,
  deps: OpenAiDeps & ComposeDeps,
): ModelClient {
  return composeEndpoint({
    model,
    settings,
    deps,
    connect: (replica) => createOpenAiClient(replica, settings, deps),
  });
}
