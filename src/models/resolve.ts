// From a model's name to everything a client needs: first the user's registry, then the offline catalogue.
import {
  fillVariables,
  type JsonObject,
  learnSetting,
  learnUrl,
  readVariable,
  UsageError,
  type Variables,
} from "../core/index.ts";
import {
  type CatalogueModel,
  type CatalogueProvider,
  findModel,
  findProvider,
  listModels,
} from "./catalogue/catalogue.ts";
import { suggestModels } from "./catalogue/suggest.ts";
import { needsResponses } from "./dialects/responses.ts";
import { learnt } from "./fill-bodies.ts";
import { NO_HABITS } from "./habit-rule.ts";
import { habitsOf } from "./habits.ts";
import { type Refusals, refusalsOf } from "./refusals.ts";
import { findEntry, type NamedModel, type Registry, type RegistryEntry } from "./registry.ts";
import type { EndpointLimits, Prices, ReasoningHabits, ResolvedModel } from "./resolved.ts";

export type ResolveContext = {
  registry?: Registry;
  env: Variables;
  /** what a dataset or the command line sets instead of the registry */
  overrides?: { apiBase?: string | string[]; apiKey?: string; api?: keyof typeof API_DIALECTS };
  /** for inspection only: an unset variable leaves the key out, or the reference in the URL as it is */
  allowMissingKeys?: boolean;
};

/** The two APIs that OpenAI-compatible servers have. */
const API_DIALECTS = { chat: "openai", responses: "responses" };

/** Throws a UsageError for a name that does not resolve, with the nearest that does, and for a missing key. */
export function resolveModel(name: string, context: ResolveContext): ResolvedModel {
  const registered = findEntry(name, context.registry ?? {});
  const named = registered ?? split(name, context);
  const { entry, model } = named;
  if (entry.mode !== undefined && entry.mode !== "chat")
    throw new UsageError(`model "${name}" has mode "${entry.mode}"; only chat models can hold a dialogue`);
  if (named.provider === "scripted") return scriptedModel(entry.model ?? model);

  const where = `model "${name}"`;
  const provider = findProvider(named.provider);
  const customBase = context.overrides?.apiBase ?? entry.api_base;
  if (provider === undefined && customBase === undefined) throw unknownProvider(name, named.provider, context);
  const id = provider?.id ?? named.provider;
  const wireName = entry.model ?? model;
  const facts = provider && findModel(provider.id, wireName);
  const custom = customBase !== undefined;
  const api =
    context.overrides?.api ?? entry.api ?? (!custom && needsResponses(id, wireName) ? "responses" : undefined);
  const dialect =
    entry.dialect ??
    (api && API_DIALECTS[api]) ??
    (custom ? undefined : facts?.dialect) ??
    provider?.dialect ??
    "openai";
  return {
    id: `${id}/${model}`,
    provider: id,
    model: wireName,
    dialect,
    baseUrls: [customBase ?? provider?.url ?? []].flat().map((url) => baseUrlFrom(url, where, context)),
    ...keyFor({ entry, provider: custom ? undefined : provider, where, context }),
    prices: pricesFrom(entry, custom ? undefined : facts),
    contextLength: entry.max_tokens ?? facts?.contextLength,
    ...(!registered && !custom && provider && !facts && listModels(provider.id).length > 0 && { unlisted: true }),
    ...(entry.tool_format && { toolFormat: entry.tool_format }),
    reasoning: reasoningFrom(entry, habitsOf({ provider: id, dialect, model: wireName, fact: facts?.reasoning })),
    limits: limitsFrom(entry),
    headers: headersFrom(entry, where, context),
    body: { ...entry.extra_params, ...entry.extra_body } as JsonObject,
    ...(entry.extra_body && { extraBody: Object.keys(entry.extra_body) }),
    ...refusalsFrom(entry, id, wireName),
  };
}

/** A name that the registry does not hold: `provider/model`, where the model's part may itself contain slashes. */
function split(name: string, context: ResolveContext): NamedModel {
  const slash = name.indexOf("/");
  if (slash > 0 && slash < name.length - 1)
    return { provider: name.slice(0, slash), model: name.slice(slash + 1), entry: {} };
  const problem = `"${name}" is not in the model registry, and no provider/model name`;
  throw new UsageError(`${problem}${suggestion(name, context)}`);
}

function unknownProvider(name: string, provider: string, context: ResolveContext): UsageError {
  return new UsageError(`model "${name}": unknown provider "${provider}"${suggestion(name, context)}`);
}

function suggestion(name: string, context: ResolveContext): string {
  const names = suggestModels(name, Object.keys(context.registry ?? {}));
  const quoted = names.map((candidate) => `"${candidate}"`).join(" or ");
  return names.length === 0 ? "; `rollout models list` shows the providers" : `; did you mean ${quoted}?`;
}

function scriptedModel(model: string): ResolvedModel {
  return {
    id: `scripted/${model}`,
    provider: "scripted",
    model,
    dialect: "scripted",
    baseUrls: [],
    prices: { input: 0, output: 0 },
    reasoning: NO_HABITS,
    limits: {},
    headers: {},
    body: {},
  };
}

function baseUrlFrom(written: string, where: string, context: ResolveContext): string {
  const filled = fillVariables(written, {
    env: context.env,
    where: `${where}, api_base`,
    keepMissing: context.allowMissingKeys,
  });
  learnUrl(filled);
  const { text } = filled;
  const isOpen = text.includes("${");
  if (!isOpen && !(URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)))
    throw new UsageError(`${where}: api_base must be a URL that begins with http:// or https://`);
  return text.replace(/^([^?#]*?)\/+(?=[?#]|$)/, "$1");
}

/** `provider` is absent for a custom api_base: a provider's own key is never sent anywhere else. */
function keyFor(options: {
  entry: RegistryEntry;
  provider: CatalogueProvider | undefined;
  where: string;
  context: ResolveContext;
}): { apiKey?: string; keyName?: string } {
  const { entry, provider, where, context } = options;
  const written = context.overrides?.apiKey ?? entry.api_key ?? undefined;
  if (written !== undefined && written !== "") return readKey(written, where, context);
  if (provider === undefined || provider.keys.length === 0) return {};
  const keyName = provider.keys.find((name) => readVariable(name, context.env) !== undefined);
  if (keyName !== undefined) return { apiKey: readVariable(keyName, context.env), keyName };
  if (provider.keyOptional) return {};
  if (context.allowMissingKeys) return { keyName: provider.keys[0] };
  const names = provider.keys.join(" or ");
  throw new UsageError(`${where} needs a key: set ${names}, or api_key for it in the model registry`);
}

function readKey(written: string, where: string, context: ResolveContext): { apiKey?: string; keyName?: string } {
  const { text, values } = fillVariables(written, {
    env: context.env,
    where: `${where}, api_key`,
    keepMissing: context.allowMissingKeys,
  });
  learnSetting("api_key", { text, values });
  const [keyName = "<literal>"] = values.keys();
  const isMissing = [...values.values()].includes(undefined);
  return { apiKey: isMissing || text === "" ? undefined : text, keyName };
}

function headersFrom(entry: RegistryEntry, where: string, context: ResolveContext): { [name: string]: string } {
  const fill = (name: string, value: string) =>
    learnt(
      name,
      fillVariables(value, {
        env: context.env,
        where: `${where}, header ${name}`,
        keepMissing: context.allowMissingKeys,
      }),
    );
  return Object.fromEntries(Object.entries(entry.headers ?? {}).map(([name, value]) => [name, fill(name, value)]));
}

/** The catalogue's prices are the provider's own: they say nothing about a custom api_base. */
function pricesFrom(entry: RegistryEntry, facts: CatalogueModel | undefined): Prices | undefined {
  const input = entry.input_cost_per_token ?? facts?.prices?.input;
  const output = entry.output_cost_per_token ?? facts?.prices?.output;
  if (input === undefined || output === undefined) return undefined; // half a price is none
  const listedCached = entry.input_cost_per_token === undefined ? facts?.prices?.cachedInput : undefined;
  const cachedInput = entry.cached_input_cost_per_token ?? listedCached;
  return { input, output, cachedInput };
}

function reasoningFrom(entry: RegistryEntry, habits: ReasoningHabits): ReasoningHabits {
  return {
    style: entry.reasoning?.style ?? habits.style,
    sendBack: entry.reasoning?.send_back ?? habits.sendBack,
    field: entry.reasoning?.field ?? habits.field,
  };
}

function refusalsFrom({ refuses }: RegistryEntry, provider: string, model: string): { refuses?: Refusals } {
  const known = refuses ? { never: refuses } : refusalsOf(provider, model);
  return known ? { refuses: known } : {};
}

function limitsFrom({ limits }: RegistryEntry): EndpointLimits {
  return {
    maxInFlight: limits?.max_in_flight,
    requestsPerMinute: limits?.requests_per_minute,
    tokensPerMinute: limits?.tokens_per_minute,
  };
}
