import { afterEach, expect, test, vi } from "vitest";
import { connectDialect } from "../../../test/support/dialect-client.ts";
import {
  completion,
  createManualClock,
  failing,
  type ModelAnswer,
  modelAt,
  requestOf,
} from "../../../test/support/model-server.ts";
import type { ChatMessage, JsonObject, ModelReply, ToolSpec } from "../../core/index.ts";
import { createDispatchers } from "../http.ts";
import type { CallSettings, ResolvedModel, ThinkingStyle } from "../resolved.ts";
import { findDialect } from "./index.ts";

const never = new AbortController().signal;
afterEach(() => vi.unstubAllEnvs());

const tools: ToolSpec[] = [
  { name: "find", description: "Finds", parameters: { type: "object", properties: {} }, readOnly: true },
];
const asked: ChatMessage = { role: "user", content: "Hello" };
const found = (callId: string): ChatMessage => ({ role: "tool", callId, name: "find", content: "ok", isError: false });

type Setup = { settings?: CallSettings; model?: Partial<ResolvedModel>; style?: ThinkingStyle; env?: object };

/** A bare client of the dialect, connected to a server that plays these answers. */
async function bare(dialect: string, answers: ModelAnswer[], { settings = {}, model, style, env }: Setup = {}) {
  const reasoning = { style: style ?? "none", sendBack: true, field: "thought" };
  const resolved = { apiKey: "sk-planted", reasoning, ...model };
  const { client, ...server } = await connectDialect(dialect, answers, { settings, model: resolved, env: { ...env } });
  const ask = (messages: ChatMessage[] = [asked], more = {}) =>
    client.complete(requestOf({ messages, tools, ...more }), never);
  return { ...server, ask };
}

/** Asks, answers the reply's calls, and returns the reply and the second request's body. */
async function roundTrip(dialect: string, first: JsonObject, last: JsonObject, setup: Setup = {}) {
  const { ask, received } = await bare(dialect, [first, last], setup);
  const reply = await ask();
  const ids = reply.toolCalls.map((call) => call.id);
  const recorded = JSON.parse(JSON.stringify({ role: "assistant", ...reply })) as ChatMessage;
  await ask([asked, recorded, ...ids.map(found)]);
  return { reply, received, body: received[1]?.body ?? {} };
}

const gemini = (parts: JsonObject[], more: JsonObject = {}): JsonObject => ({
  candidates: [{ content: { role: "model", parts }, finishReason: "STOP" }],
  ...more,
});

test("Google: thought signatures go back on the parts they came with, results of one reply together", async () => {
  const parts: JsonObject[] = [
    { text: "Hm.", thought: true },
    { text: "Let me see.", thoughtSignature: "sig-text" },
    { functionCall: { id: "f1", name: "find", args: { n: 1 } }, thoughtSignature: "sig-call" },
    { functionCall: { id: "f2", name: "find", args: {} } },
  ];
  const usageMetadata = {
    promptTokenCount: 10,
    candidatesTokenCount: 5,
    thoughtsTokenCount: 3,
    cachedContentTokenCount: 4,
    totalTokenCount: 18,
  };
  const { reply, received, body } = await roundTrip(
    "google",
    gemini(parts, { usageMetadata }),
    gemini([{ text: "Hi" }]),
    {
      settings: { temperature: 0, maxTokens: 9, sendSeed: true, thinking: true, thinkingOptions: { effort: "high" } },
      style: "effort",
      model: { model: "gemini-3-pro-preview", prices: { input: 1, output: 2, cachedInput: 0.5 } },
    },
  );
  expect(reply).toMatchObject({
    content: "Let me see.",
    reasoning: "Hm.",
    finish: "tool-calls",
    toolCalls: [
      { id: "f1", name: "find", arguments: '{"n":1}' },
      { id: "f2", name: "find", arguments: "{}" },
    ],
    usage: { inputTokens: 10, outputTokens: 8, cachedTokens: 4, reasoningTokens: 3, costUsd: 6 + 2 + 16 },
  });
  expect(received[0]).toMatchObject({
    url: "/v1/models/gemini-3-pro-preview:generateContent",
    headers: { "x-goog-api-key": "sk-planted" },
    body: {
      systemInstruction: { parts: [{ text: "You help." }] },
      generationConfig: {
        temperature: 0,
        maxOutputTokens: 9,
        seed: 7,
        thinkingConfig: { includeThoughts: true, thinkingLevel: "high" },
      },
      toolConfig: { functionCallingConfig: { mode: "AUTO" } },
    },
  });
  expect(body.contents).toMatchObject([
    { role: "user" },
    { role: "model", parts },
    { role: "user", parts: [{ functionResponse: { name: "find" } }, { functionResponse: { name: "find" } }] },
  ]);
});

test("Google: calls without an id are left for the dialogue to name", async () => {
  const { ask } = await bare("google", [gemini([{ functionCall: { name: "find", args: {} } }])]);
  expect((await ask()).toolCalls).toEqual([{ id: "", name: "find", arguments: "{}" }]);
});

test("Google: a blocked prompt is filtered, a garbled call is the model's, no candidate at all is nobody's", async () => {
  const answer = async (body: JsonObject) => (await bare("google", [body])).ask();
  expect(await answer({ promptFeedback: { blockReason: "SAFETY" } })).toMatchObject({ finish: "content-filter" });
  expect(await answer({ candidates: [{ finishReason: "MALFORMED_FUNCTION_CALL" }] })).toMatchObject({
    finish: "other",
    content: "",
  });
  await expect(answer({ candidates: [] })).rejects.toThrow("answered without a reply");
});

test("Google: a reply nested thousands deep and a count beyond belief are no trouble", async () => {
  const deep = `${'{"a":'.repeat(10_000)}1${"}".repeat(10_000)}`;
  const { ask } = await bare("google", [
    (response) =>
      response.end(`{"candidates":[{"content":{"parts":[{"functionCall":{"name":"find","args":${deep}}}]}}]}`),
    (response) =>
      response.end(
        JSON.stringify(gemini([{ text: "Hi" }])).replace(/}$/, ',"usageMetadata":{"promptTokenCount":1e300}}'),
      ),
  ]);
  await expect(ask()).rejects.toThrow("nested deeper than 128 levels");
  expect(await ask()).toMatchObject({ usage: { inputTokens: 0 }, droppedUsage: ["input_tokens"] });
});

test("Google: switching thinking off asks for as little as the model can", async () => {
  for (const [name, thinkingConfig] of [
    ["gemini-2.5-flash", { thinkingBudget: 0 }],
    ["gemini-2.5-pro", { thinkingBudget: 128 }],
    ["gemini-3-pro-preview", { thinkingLevel: "low" }],
  ] as const) {
    const setup: Setup = { settings: { thinking: false }, style: "effort", model: { model: name } };
    const { ask, received } = await bare("google", [gemini([{ text: "Hi" }])], setup);
    await ask();
    expect(received[0]?.body.generationConfig).toMatchObject({ thinkingConfig });
  }
});

const mistralMeta: JsonObject = {
  object: "chat.completion",
  usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
};

test("Mistral: thinking comes apart from text, ids that it would refuse are made to fit on both sides", async () => {
  const content: JsonObject[] = [
    { type: "thinking", thinking: [{ type: "text", text: "Hm." }] },
    { type: "text", text: "Let me see." },
  ];
  const call = { id: "call_1", type: "function", function: { name: "find", arguments: '{"n": 1' } };
  const { reply, received, body } = await roundTrip(
    "mistral",
    completion({ content, tool_calls: [call] }, mistralMeta, "tool_calls"),
    completion({ content: "Hi" }, mistralMeta),
    { settings: { sendSeed: true, topP: 0.9, extraParams: { safe_prompt: true } } },
  );
  expect(reply).toMatchObject({
    content: "Let me see.",
    reasoning: "Hm.",
    finish: "tool-calls",
    toolCalls: [{ id: "call_1", arguments: '{"n": 1' }],
    usage: { inputTokens: 3, outputTokens: 2 },
  });
  expect(received[0]).toMatchObject({
    url: "/v1/chat/completions",
    headers: { authorization: "Bearer sk-planted" },
    body: { model: "model", random_seed: 7, top_p: 0.9, safe_prompt: true },
  });
  const messages = body.messages as JsonObject[];
  const [sent] = (messages[2]?.tool_calls ?? []) as { id: string; function: JsonObject }[];
  expect(sent?.id).toMatch(/^[a-zA-Z0-9]{9}$/);
  expect(sent?.function.arguments).toBe('{"_raw":"{\\"n\\": 1"}');
  expect(messages[3]).toMatchObject({ role: "tool", tool_call_id: sent?.id, content: "ok" });
});

test("Mistral: a reply that the server broke off is infrastructure", async () => {
  const { ask } = await bare("mistral", [completion({ content: "Hel" }, mistralMeta, "error")]);
  await expect(ask()).rejects.toMatchObject({
    kind: "bad-reply",
    retryable: true,
    message: expect.stringContaining("broke off (error)"),
  });
});

test("Cohere: calls and results go round", async () => {
  const usage = { tokens: { input_tokens: 3, output_tokens: 2 }, billed_units: { input_tokens: 3, output_tokens: 2 } };
  const call = { id: "c1", type: "function", function: { name: "find", arguments: "{}" } };
  const thinking = [{ type: "thinking", thinking: "Hm." }];
  const { reply, received, body } = await roundTrip(
    "cohere",
    { message: { role: "assistant", content: thinking, tool_calls: [call] }, finish_reason: "TOOL_CALL", usage },
    { message: { role: "assistant", content: [{ type: "text", text: "Hi" }] }, finish_reason: "COMPLETE", usage },
    { settings: { thinking: true, thinkingOptions: { budget_tokens: 500 } }, style: "thinking" },
  );
  expect(reply).toMatchObject({ reasoning: "Hm.", finish: "tool-calls", toolCalls: [{ id: "c1", arguments: "{}" }] });
  expect(received[0]).toMatchObject({
    url: "/v1/chat",
    headers: { authorization: "Bearer sk-planted" },
    body: { model: "model", thinking: { type: "enabled", token_budget: 500 } },
  });
  expect(body.messages).toMatchObject([
    { role: "system" },
    { role: "user", content: "Hello" },
    { role: "assistant", tool_calls: [call] },
    { role: "tool", tool_call_id: "c1", content: "ok" },
  ]);
});

test("Azure: a reasoning model gets its effort and its own name for the longest reply", async () => {
  const { ask, received } = await bare("azure", [completion({ content: "Hi" })], {
    settings: { thinking: true, temperature: 0.5, maxTokens: 9 },
    style: "effort",
    model: { model: "my-deployment" },
  });
  expect(await ask()).toMatchObject({ content: "Hi", finish: "stop" });
  expect(received[0]).toMatchObject({
    url: "/v1/chat/completions",
    headers: { "api-key": "sk-planted" },
    body: { model: "my-deployment", reasoning_effort: "medium", max_completion_tokens: 9 },
  });
  expect(received[0]?.body).not.toHaveProperty("temperature");
  const plain = await bare("azure", [completion({ content: "Hi" })], { settings: { temperature: 0.5, maxTokens: 9 } });
  await plain.ask();
  expect(plain.received[0]?.body).toMatchObject({ temperature: 0.5, max_tokens: 9 });
});

const converse = (content: JsonObject[], stopReason = "end_turn"): JsonObject => ({
  output: { message: { role: "assistant", content } },
  stopReason,
  usage: { inputTokens: 3, outputTokens: 2, totalTokens: 5 },
});
const claude = { model: "anthropic.claude-sonnet-4-5-20250929-v1:0" };
const AWS = {
  AWS_ACCESS_KEY_ID: "AKIAPLANTED",
  AWS_SECRET_ACCESS_KEY: "planted/secret+key",
  AWS_SESSION_TOKEN: "planted-session",
  AWS_REGION: "eu-west-1",
};

test("Bedrock: a request is signed with the credentials that were handed in, and thinking goes round", async () => {
  vi.stubEnv("AWS_BEARER_TOKEN_BEDROCK", "of-the-process");
  const blocks: JsonObject[] = [
    { reasoningContent: { reasoningText: { text: "Hm.", signature: "sig" } } },
    { text: "Let me see." },
    { toolUse: { toolUseId: "t1", name: "find", input: { n: 1 } } },
  ];
  const { reply, received, body } = await roundTrip(
    "bedrock",
    converse(blocks, "tool_use"),
    converse([{ text: "Hi" }]),
    {
      settings: {
        thinking: true,
        temperature: 0.5,
        maxTokens: 100,
        extraParams: { performanceConfig: { latency: "optimized" } },
      },
      style: "anthropic",
      model: { ...claude, apiKey: undefined, headers: { "X-Title": "t" } },
      env: AWS,
    },
  );
  expect(reply).toMatchObject({
    content: "Let me see.",
    reasoning: "Hm.",
    finish: "tool-calls",
    toolCalls: [{ id: "t1", name: "find", arguments: '{"n":1}' }],
  });
  expect(received[0]).toMatchObject({
    url: `/v1/model/${encodeURIComponent(claude.model)}/converse`,
    headers: { "x-amz-security-token": "planted-session", "x-title": "t" },
    body: {
      inferenceConfig: { maxTokens: 4196 },
      additionalModelRequestFields: { thinking: { type: "enabled", budget_tokens: 4096 } },
      performanceConfig: { latency: "optimized" },
    },
  });
  expect(received[0]?.headers.authorization).toMatch(
    /^AWS4-HMAC-SHA256 Credential=AKIAPLANTED\/\d{8}\/eu-west-1\/bedrock\/aws4_request, SignedHeaders=.*x-title/,
  );
  expect(JSON.stringify(received)).not.toContain("planted/secret+key");
  expect(body.messages).toMatchObject([
    { role: "user" },
    { role: "assistant", content: blocks },
    { role: "user", content: [{ toolResult: { toolUseId: "t1", content: [{ text: "ok" }] } }] },
  ]);
});

test("Bedrock: a bearer token is used as it is; without anything, a gateway is asked unsigned", async () => {
  const bearer = await bare("bedrock", [converse([{ text: "Hi" }])], { model: claude, env: AWS });
  await bearer.ask();
  expect(bearer.received[0]?.headers.authorization).toBe("Bearer sk-planted");
  vi.stubEnv("AWS_BEARER_TOKEN_BEDROCK", "of-the-process");
  const open = await bare("bedrock", [converse([{ text: "Hi" }])], { model: { ...claude, apiKey: undefined } });
  await open.ask();
  expect(open.received[0]?.headers).not.toHaveProperty("authorization");
});

test("Bedrock: Amazon's own endpoint is not asked without credentials", () => {
  const model = modelAt("https://bedrock-runtime.us-east-1.amazonaws.com", { dialect: "bedrock" });
  const deps = { dispatchers: createDispatchers({}), clock: createManualClock(), env: {} };
  expect(() => findDialect(model.dialect).createClient(model, {}, deps)).toThrow(
    "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
  );
});

test("Bedrock: with tools off the history keeps its calls and results", async () => {
  const { ask, received } = await bare("bedrock", [converse([{ text: "Hi" }])], { model: claude });
  const reply: Partial<ModelReply> = { content: "", toolCalls: [{ id: "t1", name: "find", arguments: "{}" }] };
  await ask([asked, { role: "assistant", ...reply } as ChatMessage, found("t1")], { toolChoice: "none" });
  expect(received[0]?.body.messages).toHaveLength(3);
});

test.each([
  [
    "google",
    429,
    { error: { code: 429, message: "Please retry in 3.5s.", status: "RESOURCE_EXHAUSTED" } },
    "rate-limit",
  ],
  ["google", 400, { error: { message: "The input token count (9) exceeds the maximum" } }, "context-overflow"],
  ["mistral", 503, { message: "busy" }, "server"],
  ["cohere", 401, { message: "invalid api token" }, "refused"],
  ["azure", 400, { error: { code: "content_filter", message: "filtered" } }, "content-filter"],
  ["bedrock", 400, { message: "Input is too long for requested model." }, "context-overflow"],
  ["bedrock", 429, { message: "Too many requests" }, "rate-limit"],
] as [string, number, JsonObject, string][])("%s: a %i is labelled (%#)", async (dialect, status, body, kind) => {
  const { ask } = await bare(dialect, [failing(status, body)], { model: claude });
  await expect(ask()).rejects.toMatchObject({ kind, status, name: "RolloutError" });
});

test("no key of the process's environment goes anywhere", async () => {
  for (const name of ["GOOGLE_GENERATIVE_AI_API_KEY", "MISTRAL_API_KEY", "COHERE_API_KEY", "AZURE_API_KEY"])
    vi.stubEnv(name, "of-the-process");
  for (const dialect of ["google", "mistral", "cohere", "azure"] as const) {
    const { ask, received } = await bare(dialect, [failing(400)], { model: { apiKey: undefined } });
    await expect(ask()).rejects.toMatchObject({ kind: "refused" });
    const { authorization, "api-key": azure, "x-goog-api-key": google } = received[0]?.headers ?? {};
    expect([authorization, azure, google]).toEqual([undefined, undefined, undefined]);
  }
});
