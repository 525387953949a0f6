import { expect, test } from "vitest";
import { suggestModels } from "./suggest.ts";

test("a mistyped provider is mended, whether or not the catalogue lists the model", () => {
  expect(suggestModels("anthropc/claude-opus-5-5")).toEqual(["anthropic/claude-opus-5-5"]);
  expect(suggestModels("opnai/my-own-name")).toEqual(["openai/my-own-name"]);
});

test("a mistyped alias leads to the provider's own name", () => {
  expect(suggestModels("gemni/some-model")[0]).toMatch(/^google\//);
});

test("a mistyped model leads to the nearest at that provider", () => {
  expect(suggestModels("deepseek/deepseek-v4-por")).toEqual(["deepseek/deepseek-v4-pro"]);
});

test("a bare name leads to its maker first and then to those who also serve it, three at most", () => {
  const names = suggestModels("gpt-4o");
  expect(names[0]).toBe("openai/gpt-4o");
  expect(names.length).toBeLessThanOrEqual(3);
});

test("a maker's name for its model leads to a provider that serves it", () => {
  expect(suggestModels("meta-llama/Llama-3.3-70B-Instruct")[0]).toMatch(/llama-3\.3-70b-instruct$/i);
});

test("the registry's names are suggested first", () => {
  expect(suggestModels("my-modle", ["my-model", "other"])).toEqual(["my-model"]);
});

test("what resembles nothing gets no suggestion", () => {
  expect(suggestModels("zzzzzzzzqqqqqqqq")).toEqual([]);
});
