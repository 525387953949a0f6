import type { JsonObject } from "../../core/index.ts";
import { createAiSdkDialect } from "../ai-sdk/dialect.ts";

export const azure = createAiSdkDialect({
  name: "azure",
  // its package reads options under OpenAI's name
  optionsName: "openai",
  async load(common, model) {
    const { createAzure } = await import("@ai-sdk/azure");
    return (fetch) => createAzure({ ...common, fetch }).chat(model.model);
  },
  // only reasoning models have an effort, and they refuse `max_tokens` and temperatures
  always: ({ reasoning }): JsonObject => (reasoning.style === "effort" ? { forceReasoning: true } : {}),
  thinking({ on, effort }, { reasoning }): JsonObject {
    if (reasoning.style !== "effort") return {};
    return { reasoningEffort: effort ?? (on ? "medium" : "low") };
  },
});
