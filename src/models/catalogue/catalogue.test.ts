import { expect, test } from "vitest";
import { catalogueMade, findModel, findProvider, listModels, listProviders } from "./catalogue.ts";

test("the catalogue holds more than a hundred providers, each with an address and, unless it is local, a key variable", () => {
  const providers = listProviders();
  expect(providers.length).toBeGreaterThan(200);
  for (const { id, url, keys } of providers) {
    expect(url.replace(/\$\{\w+\}/, "https://x"), id).toMatch(/^https?:\/\/[^/]/);
    expect(url, id).not.toMatch(/\/$/);
    if (!url.includes("//localhost")) expect(keys[0], id).toMatch(/^\w+$/);
  }
});

test("no name or alias means two providers", () => {
  const names = listProviders().flatMap(({ id, aliases }) => [id, ...aliases]);
  expect(new Set(names).size).toBe(names.length);
});

test("local servers are there, on their usual ports and without a key", () => {
  const local = ["vllm", "sglang", "ollama", "lmstudio", "llamacpp"].map((id) => findProvider(id));
  expect(local.map((provider) => provider?.url)).toEqual([
    "http://localhost:8000/v1",
    "http://localhost:30000/v1",
    "http://localhost:11434/v1",
    "http://localhost:1234/v1",
    "http://localhost:8080/v1",
  ]);
  expect(local.flatMap((provider) => provider?.keys)).toEqual([]);
});

test("providers with a wire of their own carry its dialect, the rest speak OpenAI's", () => {
  const dialectOf = (name: string) => findProvider(name)?.dialect;
  expect(["anthropic", "google", "bedrock", "azure", "mistral", "cohere"].map(dialectOf)).toEqual([
    "anthropic",
    "google",
    "bedrock",
    "azure",
    "mistral",
    "cohere",
  ]);
  expect(["openai", "deepseek", "openrouter", "groq", "vllm"].map(dialectOf)).toEqual(Array(5).fill("openai"));
});

test("an alias finds its provider, an unknown name none, nor do names of object members", () => {
  expect(findProvider("gemini")?.id).toBe("google");
  expect(findProvider("together_ai")?.id).toBe("together");
  expect(findProvider("nobody")).toBeUndefined();
  expect(findProvider("constructor")).toBeUndefined();
  expect(findProvider("__proto__")).toBeUndefined();
});

test("one provider's models are its own, all of them, and every model belongs to a provider", () => {
  const all = listModels();
  expect(all.length).toBeGreaterThan(5000);
  const providers = new Set(listProviders().map(({ id }) => id));
  expect(all.filter(({ provider }) => !providers.has(provider))).toEqual([]);
  for (const id of [all[0]?.provider, "deepseek", "openrouter", all.at(-1)?.provider])
    expect(listModels(id)).toEqual(all.filter(({ provider }) => provider === id));
  expect(listModels("sglang")).toEqual([]);
});

test("prices are dollars per token and never negative; most have one where more than the name is known", () => {
  const all = listModels();
  expect(findModel("deepseek", "deepseek-v4-pro")?.prices?.input).toBeCloseTo(1.32e-6, 12);
  const odd = all.filter(({ prices }) =>
    Object.values(prices ?? {}).some((price) => price !== undefined && !(price >= 0 && price < 0.01)),
  );
  expect(odd).toEqual([]);
  const described = all.filter(({ contextLength }) => contextLength);
  expect(described.length / all.length).toBeGreaterThan(0.55);
  expect(described.filter(({ prices }) => prices).length / described.length).toBeGreaterThan(0.85);
});

test("of the makers' models, most have a price, a context and a word on reasoning", () => {
  const known = ["openai", "anthropic", "google", "deepseek", "mistral", "xai", "moonshot", "zai"].flatMap(listModels);
  expect(known.length).toBeGreaterThan(100);
  const whole = known.filter(({ prices, contextLength, reasoning }) => prices && contextLength && reasoning);
  expect(whole.length / known.length).toBeGreaterThan(0.9);
});

test("the snapshot says when it was made and from what, each source under a licence that allows it", () => {
  const { date, sources } = catalogueMade();
  expect(date).toMatch(/^20\d\d-\d\d-\d\d$/);
  expect(sources.length).toBeGreaterThan(0);
  for (const { package: name, version, licence } of sources) {
    expect(version, name).toMatch(/^\d+\.\d+\.\d+$/);
    expect(["MIT", "Apache-2.0"], name).toContain(licence);
  }
});

test("a provider that serves some models over another wire says so for each of them", () => {
  const dialects = new Set(listModels("opencode").map(({ dialect }) => dialect));
  expect(dialects).toContain("anthropic");
  expect(dialects).toContain(undefined);
});
