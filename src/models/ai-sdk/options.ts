// What a call says beside its messages and tools: sampling, thinking, and whatever the registry or the config adds.
import type { LanguageModelV3CallOptions } from "@ai-sdk/provider";
import { isObject, type Json, type JsonObject } from "../../core/index.ts";
import type { CallSettings, ResolvedModel } from "../resolved.ts";

export type StaticOptions = Pick<
  LanguageModelV3CallOptions,
  "maxOutputTokens" | "temperature" | "topP" | "providerOptions"
>;

/** Anthropic wants a number, and takes it without the tokens for thinking. */
const ANTHROPIC_MAX_TOKENS = 8192;
const THINKING_BUDGET = 4096;

/** The same for every call of a client. */
export function callOptions(model: ResolvedModel, settings: CallSettings): StaticOptions {
  const fallback = model.dialect === "anthropic" ? ANTHROPIC_MAX_TOKENS : undefined;
  const own = thinkingOptions(model, settings);
  // Bedrock's requests are signed before they come to us, so its additions cannot wait
  const added = model.dialect === "bedrock" ? additionsOf(model, settings) : {};
  return {
    maxOutputTokens: settings.maxTokens ?? fallback,
    temperature: settings.temperature,
    topP: settings.topP,
    // Azure's package goes by the name of OpenAI's
    providerOptions: { [model.dialect === "azure" ? "openai" : model.dialect]: { ...own, ...added } },
  };
}

/** What registry and config add is merged into the body, one level deep; undefined where nothing is to be done. */
export function createBodyEditor(
  model: ResolvedModel,
  settings: CallSettings,
): ((body: JsonObject) => JsonObject) | undefined {
  if (model.dialect === "bedrock") return undefined;
  const additions = Object.entries(additionsOf(model, settings));
  const showsThinking = model.dialect === "anthropic" && wantsThinking(settings) === true;
  if (additions.length === 0 && !showsThinking) return undefined;
  return (body) => {
    const edited = { ...body };
    // newer models keep what they think to themselves unless they are asked for it
    if (showsThinking && isObject(body.thinking) && body.thinking.type === "adaptive")
      edited.thinking = { display: "summarized", ...(body.thinking as JsonObject) };
    for (const [name, value] of additions) edited[name] = merge(edited[name], value);
    return edited;
  };
}

/** True or false where the settings say so. */
function wantsThinking({ thinking, thinkingOptions }: CallSettings): boolean | undefined {
  if (thinking !== undefined || thinkingOptions === undefined) return thinking;
  return thinkingOptions.type !== "disabled";
}

function thinkingOptions(model: ResolvedModel, settings: CallSettings): JsonObject {
  const { type, effort, ...written } = settings.thinkingOptions ?? {};
  const on = wantsThinking(settings);
  if (model.reasoning.style === "none") return {};
  // only reasoning models have an effort, and they refuse `max_tokens` and temperatures
  if (model.dialect === "azure" && model.reasoning.style === "effort")
    return { forceReasoning: true, ...(on !== undefined && { reasoningEffort: effort ?? (on ? "medium" : "low") }) };
  if (on === undefined) return {};
  const others = camelCased(written);
  const kind = type ?? "enabled";
  const budget: JsonObject = kind === "enabled" ? { budgetTokens: THINKING_BUDGET } : {};
  switch (model.dialect) {
    case "anthropic":
      if (!on) return { thinking: { type: "disabled" } };
      return { thinking: { type: kind, ...budget, ...others }, ...(effort !== undefined && { effort }) };
    case "bedrock": {
      const most: JsonObject = effort === undefined ? {} : { maxReasoningEffort: effort };
      if (!on) return { reasoningConfig: { type: "disabled" } };
      const isBudgeted = model.reasoning.style === "anthropic";
      return { reasoningConfig: { type: kind, ...(isBudgeted && budget), ...others, ...most } };
    }
    case "google":
      return { thinkingConfig: on ? googleThinking(effort, others) : noGoogleThinking(model.model) };
    case "mistral":
      return { reasoningEffort: effort ?? (on ? "high" : "none") };
    case "cohere": {
      const tokenBudget = others.tokenBudget ?? others.budgetTokens;
      return { thinking: { type: on ? "enabled" : "disabled", ...(tokenBudget !== undefined && { tokenBudget }) } };
    }
    default:
      return {};
  }
}

function googleThinking(effort: Json | undefined, { budgetTokens, ...others }: JsonObject): JsonObject {
  return {
    includeThoughts: true,
    ...(effort !== undefined && { thinkingLevel: effort }),
    ...(budgetTokens !== undefined && { thinkingBudget: budgetTokens }),
    ...others,
  };
}

/** Not every model can stop thinking; those think as little as they can. */
function noGoogleThinking(name: string): JsonObject {
  if (/gemini-2/.test(name)) return { thinkingBudget: name.includes("pro") ? 128 : 0 };
  return { thinkingLevel: "low" };
}

function additionsOf(model: ResolvedModel, settings: CallSettings): JsonObject {
  const additions: JsonObject = {};
  for (const source of [model.body, settings.extraParams ?? {}])
    for (const [name, value] of Object.entries(source)) additions[name] = merge(additions[name], value);
  // these are ours to write; a streamed answer would not be understood
  for (const name of ["messages", "contents", "tools", "stream"]) delete additions[name];
  return additions;
}

function merge(before: Json | undefined, after: Json): Json {
  return isObject(before) && isObject(after) ? ({ ...before, ...after } as JsonObject) : after;
}

function camelCased(options: JsonObject): JsonObject {
  const rename = (name: string) => name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
  return Object.fromEntries(Object.entries(options).map(([name, value]) => [rename(name), value]));
}
