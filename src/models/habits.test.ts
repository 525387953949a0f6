import { expect, test } from "vitest";
import { findModel, findProvider, type ReasoningFact } from "./catalogue/catalogue.ts";
import { habitsOf } from "./habits.ts";

function habits(name: string, more: { fact?: ReasoningFact; dialect?: string } = {}) {
  const [provider = "", ...rest] = name.split("/");
  const dialect = findProvider(provider)?.dialect ?? "openai";
  return habitsOf({ provider, dialect, model: rest.join("/"), ...more });
}

test("DeepSeek is switched with `thinking` and gets this turn's reasoning back as reasoning_content", () => {
  const expected = { style: "thinking", sendBack: true, field: "reasoning_content" };
  expect(habits("openai/deepseek-v3.2-fc")).toEqual(expected);
});

test("DeepSeek from V4 on gets the reasoning of earlier tool calls back in all later turns", () => {
  const expected = { style: "thinking", sendBack: "all", field: "reasoning_content" };
  expect(habits("deepseek/deepseek-v4-pro")).toEqual(expected);
  expect(habits("deepseek/deepseek-reasoner")).toEqual(expected);
  expect(habits("openai/deepseek-v4-flash")).toEqual(expected);
});

test("an R1, which refuses its reasoning and cannot be switched, gets nothing back", () => {
  expect(habits("together/deepseek-ai/DeepSeek-R1-0528")).toMatchObject({ style: "none", sendBack: false });
  expect(habits("vllm/deepseek-ai/DeepSeek-R1")).toMatchObject({ style: "none", sendBack: false });
});

test("Kimi gets its reasoning back; K3 takes an effort where the models before it take a switch", () => {
  expect(habits("moonshot/kimi-k2.6")).toMatchObject({ style: "thinking", sendBack: true });
  expect(habits("moonshot/kimi-k3")).toMatchObject({ style: "effort", sendBack: true });
});

test("DashScope takes a flag of its own", () => {
  expect(habits("alibaba/qwen3-max").style).toBe("flag");
});

test("Qwen and what vLLM and SGLang serve are switched through the chat template", () => {
  for (const name of ["vllm/Qwen/Qwen3-32B", "sglang/glm-4.7", "openai/Qwen/Qwen3-8B"])
    expect(habits(name).style, name).toBe("template");
});

test("OpenAI's reasoning models take an effort, also on Azure and elsewhere; its chat models take nothing", () => {
  for (const name of ["openai/o3", "openai/gpt-5-mini", "azure/gpt-5", "groq/openai/gpt-oss-120b", "vllm/gpt-oss-20b"])
    expect(habits(name).style, name).toBe("effort");
  for (const name of ["openai/gpt-4o", "openai/gpt-5-chat-latest", "openai/my-own-name"])
    expect(habits(name), name).toEqual({ style: "none", sendBack: false, field: "reasoning_content" });
});

test("Anthropic's thinking goes back, also through Bedrock; other Bedrock models have no switch", () => {
  expect(habits("anthropic/claude-opus-5-5")).toMatchObject({ style: "anthropic", sendBack: true });
  expect(habits("bedrock/us.anthropic.claude-sonnet-4")).toMatchObject({ style: "anthropic", sendBack: true });
  expect(habits("bedrock/meta.llama3-3-70b")).toMatchObject({ style: "none", sendBack: false });
});

test("OpenRouter takes an effort and a field of its own, whoever made the model", () => {
  expect(habits("openrouter/qwen/qwen3-235b")).toEqual({ style: "effort", sendBack: true, field: "reasoning" });
});

test("the catalogue's facts decide where no name does: no switch for a model that does not reason", () => {
  expect(habits("fireworks/some-model", { fact: "effort" }).style).toBe("effort");
  expect(habits("fireworks/some-model", { fact: "yes" }).style).toBe("none");
  expect(habits("anthropic/claude-old", { fact: "no" }).style).toBe("none");
  const coder = findModel("alibaba", "qwen3-coder-plus");
  expect(habits("alibaba/qwen3-coder-plus", { fact: coder?.reasoning }).style).toBe("none");
});
