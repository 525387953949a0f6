// Finding models of the catalogue by words, the likeliest first.
import { type CatalogueModel, listModels, listProviders } from "./catalogue.ts";
import { rankProvider } from "./suggest.ts";

/**
 * The models whose name or provider contains every word. First those whose own name is, begins with, or has parts that
 * begin with what was asked for; among equals the makers' own, those with a known price, and the shorter names.
 */
export function searchModels(words: readonly string[]): CatalogueModel[] {
  const wanted = words.flatMap((text) => text.toLowerCase().split(/\s+/)).filter((word) => word !== "");
  const names = new Map(listProviders().map(({ id, name }) => [id, `${id} ${name}`.toLowerCase()]));
  return listModels()
    .flatMap((model) => {
      const provider = names.get(model.provider) ?? "";
      const name = model.model.toLowerCase();
      return wanted.every((word) => name.includes(word) || provider.includes(word))
        ? [{ model, order: [distance(name, provider, wanted), ...standing(model)] }]
        : [];
    })
    .sort((a, b) => compare(a.order, b.order) || (a.model.model < b.model.model ? -1 : 1))
    .map(({ model }) => model);
}

/** Of a model's own name from the words, the provider's name among them left out. */
function distance(name: string, provider: string, words: readonly string[]): number {
  const asked = words.filter((word) => !provider.split(/\s+/).includes(word));
  const bare = name.slice(name.lastIndexOf("/") + 1);
  const phrase = asked.join("-");
  if (asked.length === 0) return 2;
  if (bare === phrase || name === phrase) return 0;
  if (bare.startsWith(phrase) || name.startsWith(phrase)) return 1;
  const parts = name.split(/[^\p{L}\p{N}.]+/u);
  return asked.every((word) => parts.some((part) => part.startsWith(word))) ? 2 : 3;
}

function standing({ provider, prices, model }: CatalogueModel): number[] {
  return [rankProvider(provider), prices ? 0 : 1, model.length];
}

function compare(a: readonly number[], b: readonly number[]): number {
  for (const [index, value] of a.entries()) {
    const difference = value - (b[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}
