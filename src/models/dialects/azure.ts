import type { JsonObject } from "../../core/index.ts";
import { joinAddress, trimmedPath } from "../address.ts";
import { createAiSdkDialect } from "../ai-sdk/dialect.ts";

export const azure = createAiSdkDialect({
  name: "azure",
  // its package reads options under OpenAI's name
  optionsName: "openai",
  async load(common, model) {
    const { createAzure } = await import("@ai-sdk/azure");
    return (fetch) => createAzure({ ...common, fetch }).chat(model.model);
  },
  locate: (base, { model }) => joinAddress(withDeployment(base, model), "/chat/completions"),
  // only reasoning models have an effort, and they refuse `max_tokens` and temperatures
  always: ({ reasoning }): JsonObject => (reasoning.style === "effort" ? { forceReasoning: true } : {}),
  thinking({ on, effort }, { reasoning }): JsonObject {
    if (reasoning.style !== "effort") return {};
    return { reasoningEffort: effort ?? (on ? "medium" : "low") };
  },
});

const AZURE_HOST = /\.(openai|services\.ai|cognitiveservices)\.azure\.(com|us|cn)$/;
/** Paths that need nothing before the wire's own: a deployment's, a version's, that of all models of a resource. */
const WHOLE = /\/deployments\/[^/]+|\/(v1|models|chat\/completions)$/;

/** Azure serves a resource's models by deployment under a dated `api-version`, and under `/v1` otherwise. */
function withDeployment(base: URL, model: string): string {
  const path = trimmedPath(base);
  if (!AZURE_HOST.test(base.hostname) || WHOLE.test(path)) return base.href;
  const url = new URL(base);
  const version = base.searchParams.get("api-version");
  const isDated = version !== null && /^\d/.test(version);
  url.pathname = `${path || "/openai"}${isDated ? `/deployments/${encodeURIComponent(model)}` : "/v1"}`;
  if (version === null && !path.startsWith("/api/projects/")) url.searchParams.set("api-version", "v1");
  return url.href;
}
