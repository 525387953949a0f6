// The user's own models: `models.yml` and the inline `models:` of a config, as they are written there.
import { z } from "zod";
import { UsageError } from "../core/index.ts";
import { findModel, findProvider } from "./catalogue/catalogue.ts";
import { DIALECT_NAMES } from "./dialects/index.ts";
import { REFUSABLE } from "./refusals.ts";
import { THINKING_STYLES } from "./resolved.ts";
import { TOOL_FORMATS } from "./tool-format/formats.ts";

const cost = z.number().nonnegative();
const limit = z.int().positive();
const body = z.record(z.string(), z.json());

export const registryEntrySchema = z.strictObject({
  provider: z.string().min(1).optional().describe("a provider of the catalogue, or any name next to an api_base"),
  api_base: z
    .union([z.string().min(1), z.array(z.string().min(1)).min(1)])
    .optional()
    .describe("base URL, or several that serve the same model"),
  api_key: z.string().nullable().optional().describe(`a literal, \${VAR} or \${VAR:-default}`),
  mode: z.string().optional().describe('only "chat" can be used'),
  model: z.string().min(1).optional().describe("the name that goes over the wire, where it is another"),
  dialect: z
    .enum(DIALECT_NAMES as [string, ...string[]])
    .optional()
    .describe("the wire that the endpoint speaks"),
  api: z
    .enum(["chat", "responses"])
    .optional()
    .describe("which of OpenAI's two APIs; default: responses for OpenAI's own reasoning models, else chat"),
  tool_format: z
    .enum(TOOL_FORMATS)
    .optional()
    .describe(
      "how tools, calls and results go over the wire; hermes and react: as text, for models without function calling",
    ),
  max_tokens: z.int().positive().optional().describe("context window in tokens"),
  input_cost_per_token: cost.optional().describe("dollars for a token of input; default: the catalogue's"),
  output_cost_per_token: cost.optional().describe("dollars for a token of output; default: the catalogue's"),
  cached_input_cost_per_token: cost
    .optional()
    .describe("dollars for a cached token of input; default: the catalogue's"),
  extra_params: body.optional().describe("merged into every request body; may hold variables"),
  extra_body: body.optional().describe("merged into every request body, over extra_params; may hold variables"),
  refuses: z
    .array(z.enum(REFUSABLE))
    .optional()
    .describe("settings that the model does not take and that are not sent to it; default: by its name"),
  headers: z
    .record(z.string(), z.string())
    .optional()
    .describe("sent with every request; may hold variables, and {query_id}, {rollout}, {party}, {dataset}, {run}"),
  limits: z
    .strictObject({
      max_in_flight: limit.optional().describe("requests at once"),
      requests_per_minute: limit.optional().describe("requests in a minute"),
      tokens_per_minute: limit.optional().describe("tokens in a minute"),
    })
    .optional()
    .describe("of the endpoint: max_in_flight, requests_per_minute, tokens_per_minute"),
  reasoning: z
    .strictObject({
      style: z.enum(THINKING_STYLES).optional().describe("how the model is told to think"),
      send_back: z
        .union([z.boolean(), z.literal("all")])
        .optional()
        .describe(
          "whether this turn's reasoning goes back with the next request; all: also that of earlier tool calls",
        ),
      field: z.string().min(1).optional().describe("the field that carries it"),
    })
    .optional()
    .describe("style (how the model is told to think), send_back and field (what becomes of its reasoning)"),
});

export const registrySchema = z.record(z.string().min(1), registryEntrySchema);

/** A whole `models.yml`. */
export const registryFileSchema = z.strictObject({ models: registrySchema });

export type RegistryEntry = z.infer<typeof registryEntrySchema>;
export type Registry = { readonly [name: string]: RegistryEntry };

export type NamedModel = { provider: string; model: string; entry: RegistryEntry };

/**
 * The entry that a name means. The registry may hold `my-model` while a config says `openai/my-model`, or the other way
 * round. The provider must agree, unless the name is one of the public catalogue: the registry wins over it. Names of scripted models are never looked up.
 */
export function findEntry(name: string, registry: Registry): NamedModel | undefined {
  if (name.startsWith("scripted/")) return undefined;
  const exact = Object.hasOwn(registry, name) ? registry[name] : undefined;
  if (exact !== undefined) return toNamedModel(name, exact);

  const slash = name.indexOf("/");
  const prefix = name.slice(0, Math.max(slash, 0));
  const all = Object.entries(registry).map(([key, entry]) => toNamedModel(key, entry));
  const namesakes = all.filter(({ model }) => model === name || (prefix !== "" && model === name.slice(slash + 1)));
  const fitting = namesakes.filter(({ model, provider }) => model === name || isSameProvider(prefix, provider));
  if (fitting.length === 0 && namesakes.length > 0) requireListed(name, prefix, namesakes);
  const meant = fitting.length > 0 ? fitting : namesakes;
  if (meant.length > 1) throw new UsageError(`"${name}" may be any of ${listNames(meant)}; write which`);
  return meant[0];
}

/** An entry without a provider gets the one its key begins with, else `openai`. */
function toNamedModel(key: string, entry: RegistryEntry): NamedModel {
  const slash = key.indexOf("/");
  const prefix = key.slice(0, Math.max(slash, 0));
  const isPrefixed = prefix !== "" && (entry.provider ? isSameProvider(prefix, entry.provider) : findProvider(prefix));
  return {
    provider: entry.provider ?? (isPrefixed ? prefix : "openai"),
    model: isPrefixed ? key.slice(slash + 1) : key,
    entry,
  };
}

function isSameProvider(a: string, b: string): boolean {
  return a === b || (findProvider(a)?.id ?? a) === (findProvider(b)?.id ?? b);
}

/** A namesake at another provider stands for a model of the public catalogue; any other is most likely a mistake. */
function requireListed(name: string, prefix: string, namesakes: NamedModel[]): void {
  const provider = findProvider(prefix);
  if (provider && findModel(provider.id, name.slice(prefix.length + 1))) return;
  throw new UsageError(`model "${name}": the model registry has ${listNames(namesakes)}, but not at "${prefix}"`);
}

function listNames(models: NamedModel[]): string {
  return models.map(({ provider, model }) => `"${provider}/${model}"`).join(" and ");
}
