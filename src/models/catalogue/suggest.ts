// What may have been meant by a model name that does not resolve.
import { fold, nearest } from "../../core/index.ts";
import { findProvider, listModels, listProviders } from "./catalogue.ts";

/** Up to three names that do resolve, the likeliest first; `known` are the registry's names. */
export function suggestModels(name: string, known: readonly string[] = []): string[] {
  const slash = name.indexOf("/");
  const prefix = slash === -1 ? undefined : name.slice(0, slash);
  const found = [nearest(name, known), ...(prefix === undefined ? byModel(name) : byProvider(name, prefix))];
  return [...new Set(found.filter((candidate) => candidate !== undefined))].slice(0, 3);
}

function byProvider(name: string, prefix: string): (string | undefined)[] {
  const model = name.slice(prefix.length + 1);
  const provider = findProvider(prefix)?.id ?? nearestProvider(prefix);
  if (provider === undefined) return byModel(name);
  const models = listModels(provider).map((candidate) => candidate.model);
  const near = models.includes(model) ? model : nearest(model, models);
  if (near !== undefined) return [`${provider}/${near}`];
  return findProvider(prefix) ? [] : [`${provider}/${model}`];
}

function nearestProvider(prefix: string): string | undefined {
  const names = new Map(listProviders().flatMap(({ id, aliases }) => [id, ...aliases].map((name) => [name, id])));
  return names.get(nearest(prefix, names.keys()) ?? "");
}

/** The same model name at its makers, then at others; if there is none, the nearest name at a maker. */
function byModel(name: string): (string | undefined)[] {
  const wanted = fold(name.slice(name.lastIndexOf("/") + 1));
  const models = listModels();
  const same = models
    .filter(({ model }) => fold(model.slice(model.lastIndexOf("/") + 1)) === wanted)
    .sort((a, b) => rankProvider(a.provider) - rankProvider(b.provider));
  if (same.length > 0) return same.slice(0, 3).map(({ provider, model }) => `${provider}/${model}`);
  const made = new Map(
    models.filter(({ provider }) => MAKERS.includes(provider)).map(({ provider, model }) => [model, provider]),
  );
  const near = nearest(name, made.keys());
  return near === undefined ? [] : [`${made.get(near)}/${near}`];
}

/** Providers that serve models of their own, and the widest gateway: suggested before resellers of the same models. */
const MAKERS = [
  "openai",
  "anthropic",
  "google",
  "deepseek",
  "mistral",
  "xai",
  "alibaba",
  "moonshot",
  "zai",
  "openrouter",
];

/** Makers first, in the order of the list; everybody else after them. */
export function rankProvider(provider: string): number {
  const position = MAKERS.indexOf(provider);
  return position === -1 ? MAKERS.length : position;
}
