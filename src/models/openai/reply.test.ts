import { expect, test } from "vitest";
import { NO_USAGE } from "../../core/index.ts";
import { readReply } from "./reply.ts";

const read = (message: Record<string, unknown>, finishReason = "stop") =>
  readReply({ message, finishReason }, undefined, undefined);
const readWith = (usage: unknown, prices?: Parameters<typeof readReply>[2]) =>
  readReply({ message: { content: "x" }, finishReason: "stop" }, usage, prices);
const usageOf = (usage: unknown, prices?: Parameters<typeof readReply>[2]) => readWith(usage, prices).usage;

test("a plain reply is its text", () => {
  expect(read({ content: "Hi" })).toEqual({
    ...{ content: "Hi", toolCalls: [], usage: { ...NO_USAGE, costUsd: null }, finish: "stop" },
  });
  expect(read({ content: null })).toMatchObject({ content: "", finish: "stop" });
});

test.each([
  ["reasoning_content", { content: "x", reasoning_content: "Hm." }],
  ["reasoning", { content: "x", reasoning: "Hm." }],
  ["inline tags", { content: "<think>Hm.</think>x" }],
  [
    "thinking parts",
    {
      content: [
        { type: "thinking", thinking: [{ type: "text", text: "Hm." }] },
        { type: "text", text: "x" },
      ],
    },
  ],
])("reasoning is found in %s", (_, message) => {
  expect(read(message)).toMatchObject({ content: "x", reasoning: "Hm." });
});

test("blocks of reasoning are kept whole for the way back", () => {
  const details = [
    { type: "reasoning.text", text: "Hm.", signature: "s" },
    { type: "reasoning.encrypted", data: "d" },
  ];
  expect(read({ content: "x", reasoning_details: details })).toMatchObject({
    reasoning: "Hm.",
    opaque: { reasoning_details: details },
  });
  const calls = [
    { id: "a", function: { name: "f", arguments: "{}" } },
    { id: "b", function: { name: "f" }, extra_content: 1 },
  ];
  expect(read({ tool_calls: calls }).opaque).toEqual({ extra_content: [null, 1] });
});

test("tool calls keep their ids, repeated or missing, and their raw arguments", () => {
  const tool_calls = [
    { id: "a", type: "function", function: { name: "f", arguments: '{"n": 1.0' } },
    { id: "a", type: "function", function: { name: "g", arguments: { n: 1 } } },
    { function: { name: "h" } },
  ];
  expect(read({ content: null, tool_calls })).toMatchObject({
    finish: "tool-calls",
    toolCalls: [
      { id: "a", name: "f", arguments: '{"n": 1.0' },
      { id: "a", name: "g", arguments: '{"n":1}' },
      { id: "", name: "h", arguments: "{}" },
    ],
  });
  expect(read({ function_call: { name: "f", arguments: "{}" } }, "function_call")).toMatchObject({
    finish: "tool-calls",
    toolCalls: [{ id: "", name: "f", arguments: "{}" }],
  });
});

test.each([
  ["stop", "stop"],
  ["", "stop"],
  ["length", "length"],
  ["content_filter", "content-filter"],
  ["SAFETY", "content-filter"],
  ["tool_calls", "tool-calls"],
  ["something new", "other"],
])("the reason %s ends as %s", (reason, finish) => {
  expect(read({ content: "x" }, reason).finish).toBe(finish);
});

test("a reply that was cut inside a call says so", () => {
  expect(read({ tool_calls: [{ id: "a", function: { name: "f", arguments: '{"n' } }] }, "length").finish).toBe(
    "length",
  );
});

test("a refusal is a filtered reply, and its text is kept", () => {
  expect(read({ content: null, refusal: "I cannot." })).toMatchObject({
    content: "I cannot.",
    finish: "content-filter",
  });
});

test("usage is read from every provider's fields and priced", () => {
  const prices = { input: 1, output: 10, cachedInput: 0.1 };
  expect(
    usageOf(
      {
        prompt_tokens: 100,
        completion_tokens: 20,
        prompt_tokens_details: { cached_tokens: 60 },
        completion_tokens_details: { reasoning_tokens: 5 },
      },
      prices,
    ),
  ).toEqual({ inputTokens: 100, outputTokens: 20, cachedTokens: 60, reasoningTokens: 5, costUsd: 40 + 6 + 200 });
  expect(
    usageOf({ prompt_tokens: 100, completion_tokens: 0, prompt_cache_hit_tokens: 30 }, { input: 1, output: 1 }),
  ).toEqual({
    ...NO_USAGE,
    inputTokens: 100,
    cachedTokens: 30,
    costUsd: 100,
  });
  expect(usageOf({ prompt_tokens: 1, completion_tokens: 2, cost: 0.5 }).costUsd).toBe(0.5);
});

test("what a call cost is not known without a price or without a count, and nothing only if it is free", () => {
  const counted = { prompt_tokens: 10, completion_tokens: 2 };
  const prices = { input: 1, output: 1 };
  expect(usageOf(null)).toEqual({ ...NO_USAGE, costUsd: null });
  expect(usageOf(counted).costUsd).toBeNull();
  expect(usageOf({ ...counted, cost: 0 }).costUsd).toBe(0);
  expect(usageOf(null, prices).costUsd).toBeNull();
  expect(usageOf({ ...counted, completion_tokens: -1 }, prices).costUsd).toBeNull();
  expect(usageOf(counted, { input: 0, output: 0 }).costUsd).toBe(0);
  expect(usageOf(null, { input: 0, output: 0 }).costUsd).toBe(0);
});

test("reasoning that is counted next to the completion is part of the output", () => {
  const usage = {
    prompt_tokens: 10,
    completion_tokens: 5,
    total_tokens: 22,
    completion_tokens_details: { reasoning_tokens: 7 },
  };
  expect(usageOf(usage)).toMatchObject({ outputTokens: 12, reasoningTokens: 7 });
});

test("counts that cannot be true are dropped and named; what is missing is no news", () => {
  const odd = JSON.parse('{"prompt_tokens":1e400,"completion_tokens":-3,"cost":1e308,"total_tokens":null}');
  const reply = readWith(odd);
  expect(reply.usage).toEqual({ ...NO_USAGE, costUsd: null });
  expect(reply.droppedUsage).toEqual(["prompt_tokens", "completion_tokens", "cost"]);
  const texts = readWith({ prompt_tokens: "12", completion_tokens: 4, prompt_tokens_details: null });
  expect(texts).toMatchObject({ usage: { inputTokens: 0, outputTokens: 4 }, droppedUsage: ["prompt_tokens"] });
  expect(readWith({ prompt_tokens: 1 })).not.toHaveProperty("droppedUsage");
  const priced = usageOf(odd, { input: 1, output: 1 });
  expect(Object.values(priced).every((count) => count === null || Number.isFinite(count))).toBe(true);
});
