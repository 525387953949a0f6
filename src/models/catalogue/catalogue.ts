// The offline catalogue: the providers, their URLs, the variables that hold their keys, and what their
// models cost and can do. A snapshot in two files next to this one, made by scripts/make-catalogue.mjs, with its date and
// sources in providers.json; each call reads just what it needs (a few milliseconds), so nothing is kept in memory and a
// run with scripted models never reads it.
import { readFileSync } from "node:fs";
import type { Prices } from "../resolved.ts";

export type CatalogueProvider = {
  id: string;
  name: string;
  /** may hold `${VARIABLE}` if each customer has their own address */
  url: string;
  /** variables that may hold the key, the usual one first; none for local servers */
  keys: string[];
  /** the provider also works without a key */
  keyOptional: boolean;
  dialect: string;
  aliases: string[];
};

export type CatalogueMade = {
  /** such as 2026-11-15 */
  date: string;
  sources: { package: string; from: string; version: string; licence: string; data: string }[];
};

/** Whether a model reasons, and whether it can be told how hard. */
export type ReasoningFact = "no" | "yes" | "effort";

export type CatalogueModel = {
  provider: string;
  model: string;
  prices?: Prices;
  contextLength?: number;
  maxOutput?: number;
  /** unknown for some models of which only the name is known */
  reasoning?: ReasoningFact;
  /** if it differs from the provider's */
  dialect?: string;
};

/** When the snapshot was made, and from what. */
export function catalogueMade(): CatalogueMade {
  return readCatalogue().made;
}

export function listProviders(): CatalogueProvider[] {
  return Object.entries(readProviders()).map(([id, record]) => providerFrom(id, record));
}

/** The provider with this name or alias. */
export function findProvider(name: string): CatalogueProvider | undefined {
  const records = readProviders();
  const id = Object.hasOwn(records, name)
    ? name
    : Object.keys(records).find((candidate) => records[candidate]?.aliases?.includes(name));
  const record = id === undefined ? undefined : records[id];
  return id === undefined || record === undefined ? undefined : providerFrom(id, record);
}

/** The models of one provider, by its id, or all of them. */
export function listModels(providerId?: string): CatalogueModel[] {
  const text = readData("models.jsonl");
  const lines = providerId === undefined ? text : sectionOf(providerId, text);
  return lines
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => modelFrom(JSON.parse(line) as ModelLine));
}

export function findModel(providerId: string, model: string): CatalogueModel | undefined {
  return listModels(providerId).find((candidate) => candidate.model === model);
}

type ProviderRecord = Pick<CatalogueProvider, "name" | "url" | "keys"> & Partial<CatalogueProvider>;

/**
 * Provider, model, dollars per million tokens (in, out, cached in), context, longest output, reasoning, own dialect;
 * what is unknown at the end is left out.
 */
type ModelLine = [
  provider: string,
  model: string,
  input?: number | null,
  output?: number | null,
  cachedInput?: number | null,
  contextLength?: number | null,
  maxOutput?: number | null,
  reasoning?: 0 | 1 | "effort" | null,
  dialect?: string,
];

const FACTS: ReasoningFact[] = ["no", "yes"];

function readProviders(): { [id: string]: ProviderRecord } {
  return readCatalogue().providers;
}

function readCatalogue() {
  return JSON.parse(readData("providers.json")) as { made: CatalogueMade; providers: { [id: string]: ProviderRecord } };
}

function readData(file: string): string {
  return readFileSync(new URL(file, import.meta.url), "utf8");
}

/** The lines of one provider: they are contiguous, since the file is sorted by provider. */
function sectionOf(providerId: string, text: string): string {
  const opening = `\n[${JSON.stringify(providerId)},`;
  const padded = `\n${text}`;
  const start = padded.indexOf(opening);
  if (start === -1) return "";
  const lastLine = padded.lastIndexOf(opening);
  const end = padded.indexOf("\n", lastLine + 1);
  return padded.slice(start, end);
}

function providerFrom(id: string, record: ProviderRecord): CatalogueProvider {
  return { id, keyOptional: false, dialect: "openai", aliases: [], ...record };
}

function modelFrom(line: ModelLine): CatalogueModel {
  const [provider, model, input, output, cachedInput, contextLength, maxOutput, reasoning, dialect] = line;
  return {
    provider,
    model,
    prices: input == null || output == null ? undefined : pricesFrom(input, output, cachedInput ?? null),
    contextLength: contextLength ?? undefined,
    maxOutput: maxOutput ?? undefined,
    reasoning: reasoning === "effort" ? "effort" : FACTS[reasoning ?? -1],
    dialect,
  };
}

function pricesFrom(input: number, output: number, cachedInput: number | null): Prices {
  const perToken = (perMillion: number) => perMillion / 1_000_000;
  return {
    input: perToken(input),
    output: perToken(output),
    cachedInput: cachedInput === null ? undefined : perToken(cachedInput),
  };
}
