// What a call says besides its messages and tools: sampling, thinking, and what the registry or the config adds.
import type { LanguageModelV3CallOptions } from "@ai-sdk/provider";
import type { Json, JsonObject } from "../../core/index.ts";
import { mergeBodies } from "../merge-bodies.ts";
import type { CallSettings, ResolvedModel } from "../resolved.ts";
import type { AiSdkTraits, ThinkingWish } from "./dialect.ts";

export type StaticOptions = Pick<
  LanguageModelV3CallOptions,
  "maxOutputTokens" | "temperature" | "topP" | "providerOptions"
>;

/** The same for every call of a client. */
export function callOptions(traits: AiSdkTraits, model: ResolvedModel, settings: CallSettings): StaticOptions {
  const wish = readWish(settings);
  const thinks = model.reasoning.style !== "none";
  return {
    maxOutputTokens: settings.maxTokens ?? traits.maxTokens,
    temperature: settings.temperature,
    topP: settings.topP,
    providerOptions: {
      [traits.optionsName ?? traits.name]: {
        ...traits.always?.(model),
        ...(thinks && wish.on !== undefined && traits.thinking(wish, model)),
        ...(traits.signsBody && additionsOf(model, settings)),
      },
    },
  };
}

/** Merges what registry and config add into the body, one level deep; undefined if there is nothing to do. */
export function createBodyEditor(
  traits: AiSdkTraits,
  model: ResolvedModel,
  settings: CallSettings,
): ((body: JsonObject) => JsonObject) | undefined {
  if (traits.signsBody) return undefined;
  const additions = additionsOf(model, settings);
  const wish = readWish(settings);
  if (Object.keys(additions).length === 0 && !traits.editBody) return undefined;
  return (body) => mergeBodies(traits.editBody?.(body, wish) ?? body, additions);
}

function readWish({ thinking, thinkingOptions }: CallSettings): ThinkingWish {
  const { type, effort, ...written } = thinkingOptions ?? {};
  const on = thinking ?? (thinkingOptions && type !== "disabled");
  return { on, type: typeof type === "string" ? type : undefined, effort, others: toCamelCase(written) };
}

/** These are ours to write; a streamed answer would not be understood. */
const OURS = ["messages", "contents", "tools", "stream"];

function additionsOf(model: ResolvedModel, settings: CallSettings): JsonObject {
  const additions = mergeBodies(model.body, settings.extraParams ?? {});
  for (const name of OURS) delete additions[name];
  return additions;
}

function toCamelCase(options: JsonObject): JsonObject {
  const rename = (name: string) => name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
  return Object.fromEntries(Object.entries(options).map(([name, value]: [string, Json]) => [rename(name), value]));
}
