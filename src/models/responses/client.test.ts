import { expect, test } from "vitest";
import { connectDialect } from "../../../test/support/dialect-client.ts";
import { failing, type ModelAnswer, requestOf } from "../../../test/support/model-server.ts";
import type { ChatMessage, JsonObject, ToolSpec } from "../../core/index.ts";
import { resolveModel } from "../resolve.ts";
import type { CallSettings, ResolvedModel } from "../resolved.ts";

const never = new AbortController().signal;
const EFFORT = { style: "effort", sendBack: true, field: "reasoning_content" } as const;

async function bare(answers: ModelAnswer[], settings: CallSettings = {}, more: Partial<ResolvedModel> = {}) {
  const model = { reasoning: EFFORT, ...more };
  const { client, ...server } = await connectDialect("responses", answers, { settings, model });
  return { ...server, call: (request = {}) => client.complete(requestOf(request), never) };
}

const tools: ToolSpec[] = [
  { name: "find", description: "Finds", parameters: { type: "object", properties: {} }, readOnly: true },
];
const thought = {
  type: "reasoning",
  id: "rs_1",
  summary: [{ type: "summary_text", text: "Look." }],
  encrypted_content: "gAAA",
};
const response = (output: JsonObject[], more: JsonObject = {}): JsonObject => ({
  id: "resp_1",
  status: "completed",
  error: null,
  incomplete_details: null,
  output,
  usage: {
    input_tokens: 30,
    input_tokens_details: { cached_tokens: 10 },
    output_tokens: 12,
    output_tokens_details: { reasoning_tokens: 8 },
  },
  ...more,
});
const said = (text: string): JsonObject => ({
  type: "message",
  id: "msg_1",
  status: "completed",
  role: "assistant",
  content: [{ type: "output_text", text, annotations: [] }],
});
const called = (id: string, args = '{"id":7}'): JsonObject => ({
  type: "function_call",
  id: `fc_${id}`,
  call_id: id,
  name: "find",
  arguments: args,
  status: "completed",
});

test("a request is instructions, items and flat tools, and nothing is stored", async () => {
  const { call, received } = await bare([response([said("Hi")])], { maxTokens: 100, temperature: 0.5, thinking: true });
  await call({ tools, toolChoice: "none" });
  expect(received[0]?.url).toBe("/v1/responses");
  expect(received[0]?.body).toEqual({
    model: "model",
    store: false,
    max_output_tokens: 100,
    temperature: 0.5,
    include: ["reasoning.encrypted_content"],
    reasoning: { effort: "medium" },
    instructions: "You help.",
    input: [{ role: "user", content: "Hello" }],
    tools: [
      { type: "function", strict: false, ...{ name: "find", description: "Finds", parameters: tools[0]?.parameters } },
    ],
    tool_choice: "none",
  });
});

test("a model that does not reason is sent its temperature, and nothing about reasoning", async () => {
  const plain = { reasoning: { style: "none", sendBack: false, field: "" } as const };
  const { call, received } = await bare([response([said("Hi")])], { temperature: 0.5, thinking: true }, plain);
  await call();
  expect(received[0]?.body).toMatchObject({ temperature: 0.5 });
  expect(received[0]?.body).not.toHaveProperty("reasoning");
  expect(received[0]?.body).not.toHaveProperty("include");
});

test("text, parallel calls, reasoning and usage are read; reasoning items go back as they came, before what they led to", async () => {
  const first = response([
    { ...thought, status: "completed" },
    said("One moment."),
    called("a"),
    called("b", '{"n":1.0}'),
  ]);
  const { call, received } = await bare(
    [first, response([said("Done.")])],
    {},
    { prices: { input: 1, output: 10, cachedInput: 0.1 } },
  );
  const reply = await call({ tools });
  expect(reply).toEqual({
    content: "One moment.",
    reasoning: "Look.",
    toolCalls: [
      { id: "a", name: "find", arguments: '{"id":7}' },
      { id: "b", name: "find", arguments: '{"n":1.0}' },
    ],
    opaque: { reasoning_items: [thought] },
    served: { id: "resp_1" },
    usage: { inputTokens: 30, outputTokens: 12, cachedTokens: 10, reasoningTokens: 8, costUsd: 20 + 1 + 120 },
    finish: "tool-calls",
  });
  const recorded = JSON.parse(JSON.stringify({ role: "assistant", ...reply })) as ChatMessage;
  const answered = (callId: string): ChatMessage => ({
    role: "tool",
    callId,
    name: "find",
    content: `found ${callId}`,
    isError: false,
  });
  await call({ tools, messages: [{ role: "user", content: "Hello" }, recorded, answered("a"), answered("b")] });
  expect(received[1]?.body.input).toEqual([
    { role: "user", content: "Hello" },
    thought,
    { type: "message", role: "assistant", content: [{ type: "output_text", text: "One moment." }] },
    { type: "function_call", call_id: "a", name: "find", arguments: '{"id":7}' },
    { type: "function_call", call_id: "b", name: "find", arguments: '{"n":1.0}' },
    { type: "function_call_output", call_id: "a", output: "found a" },
    { type: "function_call_output", call_id: "b", output: "found b" },
  ]);
});

test("open models show their thoughts, and what a model garbled goes back as valid JSON", async () => {
  const open = { type: "reasoning", summary: [], content: [{ type: "reasoning_text", text: "Hmm." }] };
  const { call, received } = await bare([response([open, called("a", '{"id":')]), response([said("Done.")])]);
  const reply = await call({ tools });
  expect(reply).toMatchObject({ reasoning: "Hmm.", toolCalls: [{ arguments: '{"id":' }] });
  await call({ messages: [JSON.parse(JSON.stringify({ role: "assistant", ...reply }))] });
  expect(received[1]?.body.input).toMatchObject([open, { arguments: '{"_raw":"{\\"id\\":"}' }]);
});

test.each([
  ["the end of a text", response([said("Hi")]), "stop"],
  [
    "the token limit",
    response([said("Hi")], { status: "incomplete", incomplete_details: { reason: "max_output_tokens" } }),
    "length",
  ],
  [
    "the filter",
    response([], { status: "incomplete", incomplete_details: { reason: "content_filter" } }),
    "content-filter",
  ],
  ["a refusal", response([{ type: "message", content: [{ type: "refusal", refusal: "No." }] }]), "content-filter"],
] as const)("a reply ends at %s", async (_, answer, finish) => {
  const { call } = await bare([answer]);
  expect(await call()).toMatchObject({ finish });
});

/** as llama.cpp's server sends it: no incomplete_details, no reasoning tokens, and always "completed" */
const fromLlama = (tokens: number, text = "The book is"): JsonObject => ({
  completed_at: 1794804874,
  created_at: 1794804874,
  id: "resp_irh5",
  model: "smollm2-135m",
  object: "response",
  output: [{ ...said(text), content: [{ type: "output_text", annotations: [], logprobs: [], text }] }],
  status: "completed",
  usage: {
    input_tokens: 39,
    output_tokens: tokens,
    total_tokens: 39 + tokens,
    input_tokens_details: { cached_tokens: 38 },
  },
});

test("a server that calls a cut reply completed is not believed: its token count is", async () => {
  const fromLiteLlm = { ...fromLlama(60), error: null, incomplete_details: null, max_output_tokens: null };
  const { call } = await bare([fromLlama(60), fromLlama(59), fromLiteLlm], { maxTokens: 60 });
  expect(await call()).toMatchObject({
    finish: "length",
    served: { model: "smollm2-135m", id: "resp_irh5" },
    usage: { inputTokens: 39, outputTokens: 60, cachedTokens: 38 },
  });
  expect(await call()).toMatchObject({ finish: "stop" });
  expect(await call()).toMatchObject({ finish: "length" });
});

test("what vLLM answers is read, and goes back as its own code merges it into one reply", async () => {
  const thoughts = { id: "rs_1", summary: [], type: "reasoning", content: [{ text: "Hmm.", type: "reasoning_text" }] };
  const words = { ...said("One moment."), phase: null };
  const call7 = { ...called("call_1"), async_: null, caller: null, namespace: null };
  const answer = response([{ ...thoughts, encrypted_content: null, status: null }, words, call7], {
    instructions: "You help.",
    metadata: null,
    kv_transfer_params: null,
    usage: {
      input_tokens: 30,
      input_tokens_details: { cached_tokens: 10, cache_write_tokens: 0, cached_tokens_per_turn: [] },
      output_tokens: 12,
      output_tokens_details: { reasoning_tokens: 8, tool_output_tokens: 0, output_tokens_per_turn: [] },
      total_tokens: 42,
    },
  });
  const { call, received } = await bare([answer, response([said("Done.")])]);
  const reply = await call({ tools });
  expect(reply).toMatchObject({
    content: "One moment.",
    reasoning: "Hmm.",
    finish: "tool-calls",
    usage: { inputTokens: 30, outputTokens: 12, cachedTokens: 10, reasoningTokens: 8 },
  });
  await call({ messages: [JSON.parse(JSON.stringify({ role: "assistant", ...reply }))] });
  expect(received[1]?.body.input).toEqual([
    { ...thoughts, encrypted_content: null },
    { type: "message", role: "assistant", content: [{ type: "output_text", text: "One moment." }] },
    { type: "function_call", call_id: "call_1", name: "find", arguments: '{"id":7}' },
  ]);
});

test("a second turn is understood by a server that knows an assistant's item only by its type", async () => {
  const strict: ModelAnswer = (answer, { body }) => {
    const untyped = (body.input as JsonObject[]).some(({ role, type }) => role !== "user" && type === undefined);
    const error = { code: 400, message: "Cannot determine type of 'item'", type: "invalid_request_error" };
    if (untyped) return failing(400, { error })(answer);
    answer.end(JSON.stringify(fromLlama(5)));
  };
  const { call } = await bare([strict]);
  const messages: ChatMessage[] = [
    { role: "user", content: "Hello" },
    { role: "assistant", content: "Hi." },
    { role: "user", content: "Bye" },
  ];
  expect(await call({ messages })).toMatchObject({ content: "The book is", finish: "stop" });
});

test("a reply that fills its limit exactly is whole where the server knows the limit and calls it completed", async () => {
  const { call } = await bare([response([called("a")], { max_output_tokens: 12 })], { maxTokens: 12 });
  expect(await call({ tools })).toMatchObject({ finish: "tool-calls" });
});

test("a limit that comes with the registry or extra_params counts too", async () => {
  const { call } = await bare([fromLlama(60)], { extraParams: { max_output_tokens: 60 } });
  expect(await call()).toMatchObject({ finish: "length" });
});

test.each([
  [
    "a failed response",
    response([], { status: "failed", error: { code: "server_error", message: "broke" } }),
    "bad-reply",
  ],
  ["no output", { id: "x" }, "bad-reply"],
  [
    "a full context",
    failing(400, {
      error: { code: "context_length_exceeded", message: "Your input exceeds the context window of this model." },
    }),
    "context-overflow",
  ],
  ["a rate limit", failing(429, { error: { message: "Rate limit reached" } }), "rate-limit"],
] as [string, ModelAnswer, string][])("%s is a failure of its kind", async (_, answer, kind) => {
  const { call } = await bare([answer]);
  await expect(call()).rejects.toMatchObject({ kind });
});

test("OpenAI's reasoning models are asked there, and others where `api` says so", () => {
  const env = { OPENAI_API_KEY: "sk-1" };
  const dialect = (name: string, overrides = {}) => resolveModel(name, { env, overrides }).dialect;
  expect(["openai/gpt-5.4", "openai/o3", "openai/gpt-5-codex"].map((name) => dialect(name))).toEqual(
    Array(3).fill("responses"),
  );
  expect(["openai/gpt-4.1", "openai/gpt-5-chat-latest"].map((name) => dialect(name))).toEqual(["openai", "openai"]);
  expect(dialect("openai/gpt-5.4", { api: "chat" })).toBe("openai");
  expect(dialect("openai/gpt-5.4", { apiBase: "http://localhost:1/v1" })).toBe("openai");
  expect(dialect("vllm/gpt-oss-20b", { api: "responses" })).toBe("responses");
});
