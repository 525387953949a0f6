// What a request says besides its messages and tools: sampling, thinking, and what the registry or the config adds.
import type { JsonObject } from "../../core/index.ts";
import { mergeBodies } from "../merge-bodies.ts";
import type { CallSettings, ResolvedModel } from "../resolved.ts";

/** The same for every call of a client. What registry and config add is merged last, one level deep. */
export function requestParameters(model: ResolvedModel, settings: CallSettings): JsonObject {
  const parameters: JsonObject = { model: model.model };
  if (settings.temperature !== undefined) parameters.temperature = settings.temperature;
  if (settings.topP !== undefined) parameters.top_p = settings.topP;
  if (settings.maxTokens !== undefined) parameters[maxTokensField(model)] = settings.maxTokens;
  const thinking = thinkingParameters(model, settings);
  const merged = mergeBodies(parameters, thinking, model.body, settings.extraParams ?? {});
  // these are ours to write; a streamed answer would not be understood
  for (const name of ["messages", "tools", "stream", "stream_options"]) delete merged[name];
  return merged;
}

/** OpenAI's newer models refuse `max_tokens`; most other servers know only that. */
function maxTokensField({ provider, model, reasoning }: ResolvedModel): string {
  const isNewer = reasoning.style === "effort" || /^(o\d|gpt-([5-9]|\d\d))/.test(model);
  return provider === "openai" && isNewer ? "max_completion_tokens" : "max_tokens";
}

function thinkingParameters(model: ResolvedModel, settings: CallSettings): JsonObject {
  const { type, effort, ...others } = settings.thinkingOptions ?? {};
  const on = settings.thinking ?? (type === undefined ? settings.thinkingOptions && true : type !== "disabled");
  if (on === undefined) return {};
  switch (model.reasoning.style) {
    case "thinking":
      return { thinking: on ? { type: type ?? "enabled", ...others } : { type: "disabled" } };
    case "anthropic":
      return { thinking: on ? { type: "enabled", budget_tokens: 4096, ...others } : { type: "disabled" } };
    case "template":
      return { chat_template_kwargs: { enable_thinking: on, ...others } };
    case "flag":
      return { enable_thinking: on, ...others };
    case "effort":
      // not all of these models have a value for "off"; all understand "low"
      return { reasoning_effort: effort ?? (on ? "medium" : "low") };
    case "none":
      return {};
  }
}
