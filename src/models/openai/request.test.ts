import { expect, test } from "vitest";
import { modelAt, requestOf } from "../../../test/support/model-server.ts";
import type { ChatMessage, JsonObject, ModelRequest, ToolSpec } from "../../core/index.ts";
import type { CallSettings, ReasoningHabits, ResolvedModel } from "../resolved.ts";
import { createBodyWriter } from "./request.ts";

const tools: ToolSpec[] = [{ name: "find", description: "Finds.", parameters: { type: "object" }, readOnly: true }];
const wireTools = [
  { type: "function", function: { name: "find", description: "Finds.", parameters: { type: "object" } } },
];

function write(settings: CallSettings = {}, model: Partial<ResolvedModel> = {}, request = requestOf()): JsonObject {
  return JSON.parse(
    createBodyWriter(modelAt("http://host/v1", model), settings)(request).bytes.toString(),
  ) as JsonObject;
}
function history(messages: ChatMessage[], habits: Partial<ReasoningHabits> = {}) {
  const reasoning = { style: "none", sendBack: true, field: "reasoning_content", ...habits } as const;
  return write({}, { reasoning }, requestOf({ system: "", messages })).messages;
}

test("a plain request says no more than it must", () => {
  expect(write()).toEqual({
    model: "model",
    messages: [
      { role: "system", content: "You help." },
      { role: "user", content: "Hello" },
    ],
  });
});

test("settings go by their names on the wire, the seed only when asked for", () => {
  expect(write({ temperature: 0, topP: 0.9, maxTokens: 100 })).toMatchObject({
    temperature: 0,
    top_p: 0.9,
    max_tokens: 100,
  });
  expect(write()).not.toHaveProperty("seed");
  expect(write({ sendSeed: true }).seed).toBe(7);
  expect(write({ sendSeed: true, extraParams: { seed: 1 } }).seed).toBe(1);
});

test("stop sequences of a text format are sent, unless the user has some", () => {
  const request = requestOf({ stop: ["<tool_response>"] });
  expect(write({}, {}, request).stop).toEqual(["<tool_response>"]);
  expect(write({ extraParams: { stop: ["END"] } }, {}, request).stop).toEqual(["END"]);
  expect(write()).not.toHaveProperty("stop");
});

test("tools stay listed where none may be called", () => {
  expect(write({}, {}, requestOf({ tools }))).toMatchObject({ tools: wireTools });
  expect(write({}, {}, requestOf({ tools }))).not.toHaveProperty("tool_choice");
  expect(write({}, {}, requestOf({ tools, toolChoice: "none" }))).toMatchObject({
    tools: wireTools,
    tool_choice: "none",
  });
  expect(write({}, {}, requestOf({ toolChoice: "none" }))).not.toHaveProperty("tool_choice");
});

test("what registry and config add is merged last, one level deep, and cannot break the call", () => {
  const body = { temperature: 1, provider: { only: ["a"] }, chat_template_kwargs: { x: 1 } };
  const extraParams = { provider: { sort: "price" }, tool_choice: "required", stream: true, messages: [], tools: [] };
  const reasoning = { style: "template", sendBack: false, field: "reasoning_content" } as const;
  const written = write({ temperature: 0, thinking: false, extraParams }, { body, reasoning }, requestOf({ tools }));
  expect(written).toMatchObject({
    temperature: 1,
    provider: { only: ["a"], sort: "price" },
    chat_template_kwargs: { x: 1, enable_thinking: false },
    tool_choice: "required",
    tools: wireTools,
  });
  expect(written).not.toHaveProperty("stream");
  expect(written.messages).toHaveLength(2);
  expect(write({ extraParams }, {}, requestOf({ tools, toolChoice: "none" })).tool_choice).toBe("none");
});

test.each<[ReasoningHabits["style"], CallSettings, JsonObject]>([
  ["none", { thinking: true }, {}],
  ["thinking", {}, {}],
  ["thinking", { thinking: true }, { thinking: { type: "enabled" } }],
  ["thinking", { thinking: false }, { thinking: { type: "disabled" } }],
  [
    "thinking",
    { thinkingOptions: { type: "enabled", budget_tokens: 9 } },
    { thinking: { type: "enabled", budget_tokens: 9 } },
  ],
  ["thinking", { thinkingOptions: { type: "disabled" } }, { thinking: { type: "disabled" } }],
  ["template", { thinking: true }, { chat_template_kwargs: { enable_thinking: true } }],
  ["template", { thinking: false }, { chat_template_kwargs: { enable_thinking: false } }],
  [
    "template",
    { thinkingOptions: { thinking_budget: 9 } },
    { chat_template_kwargs: { enable_thinking: true, thinking_budget: 9 } },
  ],
  ["flag", {}, {}],
  ["flag", { thinking: true }, { enable_thinking: true }],
  ["flag", { thinking: false }, { enable_thinking: false }],
  ["flag", { thinkingOptions: { thinking_budget: 9 } }, { enable_thinking: true, thinking_budget: 9 }],
  ["effort", {}, {}],
  ["effort", { thinking: true }, { reasoning_effort: "medium" }],
  ["effort", { thinking: false }, { reasoning_effort: "low" }],
  ["effort", { thinkingOptions: { effort: "high" } }, { reasoning_effort: "high" }],
  ["effort", { thinkingOptions: { type: "disabled" } }, { reasoning_effort: "low" }],
  ["anthropic", {}, {}],
  ["anthropic", { thinking: true }, { thinking: { type: "enabled", budget_tokens: 4096 } }],
  ["anthropic", { thinking: false }, { thinking: { type: "disabled" } }],
  ["anthropic", { thinkingOptions: { budget_tokens: 9 } }, { thinking: { type: "enabled", budget_tokens: 9 } }],
])("thinking in the %s style, %o, is written as %o", (style, settings, expected) => {
  const { model, messages, ...rest } = write(settings, { reasoning: { style, sendBack: false, field: "x" } });
  expect(rest).toEqual(expected);
});

test("OpenAI's reasoning models get the limit under the name they take", () => {
  const reasoning = { style: "effort", sendBack: false, field: "x" } as const;
  expect(write({ maxTokens: 5 }, { provider: "openai", reasoning })).toMatchObject({ max_completion_tokens: 5 });
  expect(write({ maxTokens: 5 }, { provider: "openrouter", reasoning })).toMatchObject({ max_tokens: 5 });
});

test.each([
  ['{"id": 7.0}', '{"id": 7.0}'],
  ["", "{}"],
  ['{"id": 7', '{"_raw":"{\\"id\\": 7"}'],
  ["[1]", '{"_raw":"[1]"}'],
  ['"text"', '{"_raw":"\\"text\\""}'],
])("arguments %s go back as %s", (raw, sent) => {
  const calls = [{ id: "c1", name: "find", arguments: raw }];
  expect(history([{ role: "assistant", content: "", toolCalls: calls }])).toEqual([
    {
      role: "assistant",
      content: "",
      tool_calls: [{ id: "c1", type: "function", function: { name: "find", arguments: sent } }],
    },
  ]);
});

test("tool results and impossible names go back in a form that servers take", () => {
  const sent = history([
    { role: "assistant", content: "", toolCalls: [{ id: "a", name: "no such tool!", arguments: "{}" }] },
    { role: "tool", callId: "a", name: "no such tool!", content: "Error", isError: true },
    { role: "assistant", content: "", toolCalls: [{ id: "b", name: "", arguments: "{}" }] },
  ]);
  expect(sent).toMatchObject([
    { tool_calls: [{ function: { name: "no_such_tool_" } }] },
    { role: "tool", tool_call_id: "a", content: "Error" },
    { tool_calls: [{ function: { name: "unnamed" } }] },
  ]);
});

test("reasoning goes back only where the provider wants it, under its own name", () => {
  const message: ChatMessage = { role: "assistant", content: "x", reasoning: "Hm." };
  expect(history([message])).toEqual([{ role: "assistant", content: "x", reasoning_content: "Hm." }]);
  expect(history([message], { field: "reasoning" })).toEqual([{ role: "assistant", content: "x", reasoning: "Hm." }]);
  expect(history([message], { sendBack: false })).toEqual([{ role: "assistant", content: "x" }]);
});

test("what a provider wants back untouched goes where it came from", () => {
  const details = [{ type: "reasoning.encrypted", data: "…" }];
  const extra = { google: { thought_signature: "s" } };
  const sent = history([
    {
      role: "assistant",
      content: "",
      opaque: { reasoning_details: details, extra_content: [null, extra] },
      toolCalls: [
        { id: "a", name: "find", arguments: "{}" },
        { id: "b", name: "find", arguments: "{}" },
      ],
    },
  ]);
  expect(sent).toMatchObject([
    { reasoning_details: details, tool_calls: [{ id: "a" }, { id: "b", extra_content: extra }] },
  ]);
});

test("half a surrogate pair becomes a replacement character, and whole text stays as it was", () => {
  const odd = "a\ud800b \udc00\ud800 \ud83d\ude00 \\ud800 \\\\ud800 \u2028 \u0000";
  const [message] = history([{ role: "user", content: odd }]) as [JsonObject];
  expect(message.content).toBe("a\ufffdb \ufffd\ufffd \ud83d\ude00 \\ud800 \\\\ud800 \u2028 \u0000");
});

test("a changed tool list is a new one: each list is written as it is", () => {
  const writer = createBodyWriter(modelAt("http://host/v1"), {});
  const other = [{ ...(tools[0] as ToolSpec), name: "other" }];
  const written = (request: ModelRequest) => writer(request).bytes.toString();
  expect(written(requestOf({ tools }))).toBe(written(requestOf({ tools })));
  expect(written(requestOf({ tools: other }))).toContain('"name":"other"');
  for (let index = 0; index < 600; index++)
    expect(written(requestOf({ system: `s${index}` }))).toContain(`"content":"s${index}"`);
});

test("where reasoning is demanded of every reply that called tools, one that had none sends it empty", () => {
  const toolCalls = [{ id: "a", name: "find", arguments: "{}" }];
  const messages: ChatMessage[] = [
    { role: "assistant", content: "", toolCalls },
    { role: "assistant", content: "Done." },
  ];
  const [called, spoke] = history(messages, { sendBack: "all" }) as JsonObject[];
  expect(called).toMatchObject({ reasoning_content: "" });
  expect(spoke).not.toHaveProperty("reasoning_content");
});
