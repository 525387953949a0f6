import { expect, test } from "vitest";
import { searchModels } from "./search.ts";

const namesOf = (...words: string[]) => searchModels(words).map(({ provider, model }) => `${provider}/${model}`);

test("the name itself comes first, at its maker; then names that begin with it; then those that contain it", () => {
  const names = namesOf("gpt-5");
  expect(names[0]).toBe("openai/gpt-5");
  const first = (test: (bare: string) => boolean) =>
    names.findIndex((name) => test(name.slice(name.lastIndexOf("/") + 1).toLowerCase()));
  const last = (test: (bare: string) => boolean) =>
    names.findLastIndex((name) => test(name.slice(name.lastIndexOf("/") + 1).toLowerCase()));
  const isSame = (bare: string) => bare === "gpt-5";
  const begins = (bare: string) => bare.startsWith("gpt-5") && !isSame(bare);
  const contains = (bare: string) => bare.includes("gpt-5") && !bare.startsWith("gpt-5");
  expect(last(isSame)).toBeLessThan(first(begins));
  expect(first(contains)).toBeGreaterThan(first(begins));
});

test("every word counts, in any order and case; several words are read as one name first", () => {
  const names = namesOf("Coder", "QWEN3");
  expect(names.length).toBeGreaterThan(5);
  for (const name of names) expect(name.toLowerCase()).toMatch(/qwen3.*coder|coder.*qwen3/);
  expect(new Set(names)).toEqual(new Set(namesOf("qwen3", "coder")));
  expect(namesOf("qwen3", "coder")[0]).toBe("openrouter/qwen/qwen3-coder");
});

test("a provider's name narrows the search and does not count as part of the model's", () => {
  const names = namesOf("openrouter", "kimi-k3");
  expect(names[0]).toBe("openrouter/moonshotai/kimi-k3");
  expect(names.filter((name) => !name.includes("openrouter"))).toEqual([]);
});
