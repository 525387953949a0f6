import { afterEach, expect, test, vi } from "vitest";
import { type AnthropicAnswer, anthropicError, serveAnthropic } from "../../../test/support/anthropic-server.ts";
import { createManualClock, type Received, requestOf } from "../../../test/support/model-server.ts";
import type { ChatMessage, JsonObject, ModelReply, ToolSpec } from "../../core/index.ts";
import { createModels } from "../connect.ts";
import type { ModelFailure } from "../failure.ts";
import type { RegistryEntry } from "../registry.ts";
import type { CallSettings } from "../resolved.ts";
import { withToolFormat } from "../tool-format/with-tool-format.ts";

const never = new AbortController().signal;
const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  vi.unstubAllEnvs();
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const KEY = "sk-ant-planted/key+1";
const tools: ToolSpec[] = [{ name: "find_loan", description: "Finds a loan", parameters: {}, readOnly: true }];
const user = (content: string): ChatMessage => ({ role: "user", content });
const result = (callId: string, content = "ok", isError = false): ChatMessage => ({
  role: "tool",
  callId,
  name: "find_loan",
  content,
  isError,
});
const said = (reply: ModelReply): ChatMessage => ({ role: "assistant", ...reply });
const hello: AnthropicAnswer = { content: [{ type: "text", text: "Hi" }] };
const callBlock = (id: string, input: object = {}) => ({
  type: "tool_use",
  id,
  name: "find_loan",
  input: { ...input },
});

const messagesOf = (received: Received | undefined) =>
  (received?.body.messages ?? []) as { role: string; content: JsonObject[] }[];

/** A fully composed client, on a clock where every wait ends at once. */
async function whole(answers: AnthropicAnswer[], settings: CallSettings = {}, entry: RegistryEntry = {}) {
  const server = await serveAnthropic(...answers);
  const clock = createManualClock({ auto: true });
  const models = createModels({
    env: { MY_KEY: KEY },
    registry: {
      claude: {
        provider: "anthropic",
        model: "claude-sonnet-4-5",
        api_base: server.baseUrl,
        api_key: `\${MY_KEY}`,
        ...entry,
      },
    },
    clock,
    random: { next: () => 0.5 },
    idleSeconds: 0.2,
  });
  cleanups.push(server.close, models.close);
  const client = models.client("claude", settings);
  const ask = (messages: ChatMessage[] = [user("Hello")], more = {}, signal = never) =>
    client.complete(requestOf({ messages, tools, ...more }), signal);
  return { ...server, models, client, clock, ask };
}

test("a call carries key, system prompt, tools and sampling, and comes back with usage and money", async () => {
  const usage = {
    input_tokens: 100,
    output_tokens: 50,
    cache_read_input_tokens: 1000,
    cache_creation_input_tokens: 200,
    output_tokens_details: { thinking_tokens: 20 },
  };
  const { ask, received } = await whole(
    [{ content: [{ type: "text", text: "Hi" }], usage }],
    { temperature: 0.5, maxTokens: 300, extraParams: { top_k: 5 } },
    {
      headers: { "X-Title": "t" },
      input_cost_per_token: 1,
      output_cost_per_token: 2,
      cached_input_cost_per_token: 0.1,
    },
  );
  expect(await ask()).toEqual({
    content: "Hi",
    served: { id: "msg_1", model: "claude-sonnet-4-5" },
    toolCalls: [],
    finish: "stop",
    usage: {
      inputTokens: 1300,
      outputTokens: 50,
      cachedTokens: 1000,
      reasoningTokens: 20,
      costUsd: 100 + 200 * 1.25 + 1000 * 0.1 + 50 * 2,
    },
  });
  expect(received).toMatchObject([
    {
      url: "/v1/messages",
      headers: { "x-api-key": KEY, "x-title": "t", "content-type": "application/json" },
      body: {
        model: "claude-sonnet-4-5",
        max_tokens: 300,
        temperature: 0.5,
        top_k: 5,
        system: [{ type: "text", text: "You help." }],
        messages: [{ role: "user", content: [{ type: "text", text: "Hello" }] }],
        tools: [{ name: "find_loan", input_schema: { type: "object" } }],
        tool_choice: { type: "auto" },
      },
    },
  ]);
});

test("tool calls and their results go round, parallel ones in one message, errors marked as such", async () => {
  const { ask, received } = await whole([
    {
      content: [{ type: "text", text: "Let me see." }, callBlock("toolu_1", { id: 7 }), callBlock("toolu_2")],
      stop_reason: "tool_use",
    },
    hello,
  ]);
  const reply = await ask();
  expect(reply).toMatchObject({
    content: "Let me see.",
    finish: "tool-calls",
    toolCalls: [
      { id: "toolu_1", name: "find_loan", arguments: '{"id":7}' },
      { id: "toolu_2", name: "find_loan", arguments: "{}" },
    ],
  });
  expect(reply).not.toHaveProperty("opaque");
  await ask([user("Hello"), said(reply), result("toolu_1"), result("toolu_2", "no such loan", true)]);
  expect(received[1]?.body.messages).toMatchObject([
    { role: "user" },
    {
      role: "assistant",
      content: [
        { type: "text", text: "Let me see." },
        { type: "tool_use", id: "toolu_1", input: { id: 7 } },
        { type: "tool_use", id: "toolu_2", input: {} },
      ],
    },
    {
      role: "user",
      content: [
        { type: "tool_result", tool_use_id: "toolu_1", content: "ok" },
        { type: "tool_result", tool_use_id: "toolu_2", content: "no such loan", is_error: true },
      ],
    },
  ]);
});

test("thinking is asked for with a budget, recorded, and sent back verbatim with its signatures", async () => {
  const blocks: JsonObject[] = [
    { type: "thinking", thinking: " First,\nlook. ", signature: "sig+1/==" },
    { type: "redacted_thinking", data: "encrypted" },
    { type: "text", text: "Let me see." },
    callBlock("toolu_1"),
  ];
  const { ask, received } = await whole([{ content: blocks, stop_reason: "tool_use" }, hello], {
    thinking: true,
    temperature: 0.7,
    thinkingOptions: { budget_tokens: 2000 },
    maxTokens: 100,
  });
  const reply = await ask();
  expect(reply).toMatchObject({ content: "Let me see.", reasoning: " First,\nlook. ", finish: "tool-calls" });
  expect(received[0]?.body).toMatchObject({ thinking: { type: "enabled", budget_tokens: 2000 }, max_tokens: 2100 });
  expect(received[0]?.body).not.toHaveProperty("temperature");
  // as the journal keeps it
  const recorded = JSON.parse(JSON.stringify(said(reply))) as ChatMessage;
  expect((await ask([user("Hello"), recorded, result("toolu_1")])).content).toBe("Hi");
  expect(messagesOf(received[1])[1]?.content).toEqual(blocks);
});

test("a call that the dialogue renamed keeps its place among the signed blocks", async () => {
  const thinking = { type: "thinking", thinking: "Hm", signature: "s" };
  const { ask, received } = await whole(
    [{ content: [thinking, callBlock("same"), callBlock("same")], stop_reason: "tool_use" }, hello],
    { thinking: true },
  );
  const reply = await ask();
  const [first, second] = reply.toolCalls;
  const renamed = { ...reply, toolCalls: [first, { ...second, id: "call_1" }] } as ModelReply;
  await ask([user("Hello"), said(renamed), result("same"), result("call_1")]);
  expect(messagesOf(received[1])[1]?.content).toMatchObject([thinking, { id: "same" }, { id: "call_1" }]);
});

test("thinking can be switched off, or left to the provider", async () => {
  const off = await whole([hello], { thinking: false });
  await off.ask();
  expect(off.received[0]?.body.thinking).toEqual({ type: "disabled" });
  const unsaid = await whole([hello]);
  await unsaid.ask();
  expect(unsaid.received[0]?.body).not.toHaveProperty("thinking");
  expect(unsaid.received[0]?.body.max_tokens).toBe(8192);
});

test("models that decide themselves how much to think are asked to show it", async () => {
  const { ask, received } = await whole([hello], { thinking: true, thinkingOptions: { type: "adaptive" } });
  await ask();
  expect(received[0]?.body.thinking).toEqual({ type: "adaptive", display: "summarized" });
});

test("whatever a model wrote, the list that goes back is one that the server takes", async () => {
  const { ask, received } = await whole([hello]);
  const calls = [
    { id: "a", name: "find loan!", arguments: '{"id": 7' },
    { id: "b", name: "find_loan", arguments: "[1]" },
    { id: "c", name: "find_loan", arguments: "" },
    { id: "d", name: "find_loan", arguments: '{"text":"\\ud800"}' },
  ];
  await ask([
    { role: "assistant", content: "Welcome!" },
    user("Hello"),
    user("Is anybody \ud800 there?"),
    { role: "assistant", content: "", reasoning: "unsigned", toolCalls: calls },
    ...calls.map(({ id }) => result(id)),
    { role: "assistant", content: " " },
    user("Go on"),
  ]);
  const messages = messagesOf(received[0]);
  expect(messages.map(({ role, content }) => `${role} ${content.map(({ type }) => type).join(" ")}`)).toEqual([
    "user text",
    "assistant text",
    "user text",
    "assistant tool_use tool_use tool_use tool_use",
    "user tool_result tool_result tool_result tool_result text",
  ]);
  expect(messages[2]?.content[0]?.text).toBe("Hello\n\nIs anybody \ufffd there?");
  expect(messages[3]?.content.map(({ name, input }) => [name, input])).toEqual([
    ["find_loan_", { _raw: '{"id": 7' }],
    ["find_loan", { _raw: "[1]" }],
    ["find_loan", {}],
    ["find_loan", { text: "\ufffd" }],
  ]);
});

test("with tools off they stay listed, and the choice says so", async () => {
  const { ask, received } = await whole([hello]);
  await ask([user("Hello")], { toolChoice: "none" });
  expect(received[0]?.body).toMatchObject({ tools: [{ name: "find_loan" }], tool_choice: { type: "none" } });
});

test.each([
  ["end_turn", "stop"],
  ["max_tokens", "length"],
  ["refusal", "content-filter"],
  ["pause_turn", "stop"],
])("a reply that ends with %s ends with %s", async (stop_reason, finish) => {
  const { ask } = await whole([{ content: [{ type: "text", text: "Hi" }], stop_reason }]);
  expect(await ask()).toMatchObject({ finish });
});

test("429 and 529 are waited out and tried again: as long as was asked, or with a back-off", async () => {
  const { ask, received, clock } = await whole([
    anthropicError(429, "rate_limit_error", "slow down", { "llm_provider-retry-after": "7" }),
    anthropicError(529, "overloaded_error", "Overloaded"),
    hello,
  ]);
  expect((await ask()).content).toBe("Hi");
  expect(received).toHaveLength(3);
  expect(clock.slept).toEqual([7000, 500]);
});

test("a 529 that always comes back ends the rollout as infrastructure, after the retries that were allowed", async () => {
  const { ask, received } = await whole([anthropicError(529, "overloaded_error", "Overloaded")], { maxRetries: 2 });
  await expect(ask()).rejects.toMatchObject({ kind: "server", status: 529, stopReason: "infrastructure" });
  expect(received).toHaveLength(3);
});

test.each([
  [
    anthropicError(400, "invalid_request_error", "prompt is too long: 208310 tokens > 200000 maximum"),
    "context_overflow",
  ],
  [{ content: [{ type: "text", text: "Hel" }], stop_reason: "model_context_window_exceeded" }, "context_overflow"],
  [
    anthropicError(400, "invalid_request_error", "Output blocked by content filtering policy: content_filter"),
    "content_filter",
  ],
] as [AnthropicAnswer, string][])(
  "what trying again cannot mend is asked once and labelled (%#)",
  async (answer, stopReason) => {
    const { ask, received } = await whole([hello, answer]);
    await ask(); // a first prompt that does not fit would be no rollout's own
    await expect(ask()).rejects.toMatchObject({ stopReason, retryable: false });
    expect(received).toHaveLength(2);
  },
);

test.each([
  [anthropicError(401, "authentication_error", "invalid x-api-key"), "does not accept the key (401"],
  [anthropicError(400, "invalid_request_error", "Your credit balance is too low"), "no credit or quota left (400"],
] as [AnthropicAnswer, string][])(
  "what no rollout could mend stops everything at the first call (%#)",
  async (answer, text) => {
    const { ask, received } = await whole([answer]);
    await expect(ask()).rejects.toMatchObject({ name: "SetupError", message: expect.stringContaining(text) });
    expect(received).toHaveLength(1);
  },
);

test.each([
  ["a body that is cut", (response) => response.end('{"type":"message","content":[{"type":"te'), "bad-reply"],
  ["a body that is no reply", (response) => response.end('{"type":"error","error":{"message":"broke"}}'), "bad-reply"],
  ["a reset", (response) => response.socket?.resetAndDestroy(), "network"],
  ["a server that stands still", (response) => response.write('{"type":'), "timeout"],
] as [string, AnthropicAnswer, string][])("%s is infrastructure, and worth another try", async (_, answer, kind) => {
  const { ask, received } = await whole([answer, hello]);
  expect((await ask()).content).toBe("Hi");
  expect(received).toHaveLength(2);
  const once = await whole([answer], { maxRetries: 0 });
  await expect(once.ask()).rejects.toMatchObject({ kind, retryable: true, boundary: "infrastructure" });
});

test("a server that never answers meets the limit for the whole call", async () => {
  const { ask } = await whole([() => undefined], { timeoutSeconds: 0.1, maxRetries: 0 });
  await expect(ask()).rejects.toThrow("the whole call took longer than 0.1 s");
});

test("an abort comes back as the caller's reason", async () => {
  const controller = new AbortController();
  const { ask } = await whole([() => controller.abort(new Error("enough"))]);
  await expect(ask([user("Hello")], {}, controller.signal)).rejects.toThrow("enough");
});

test("a key that a server echoes is seen nowhere, however it is dressed", async () => {
  const dressed = [KEY, encodeURIComponent(KEY), Buffer.from(KEY).toString("base64")];
  for (const answer of [
    anthropicError(401, "authentication_error", `bad key ${dressed.join(" ")}`),
    (response) => response.end(`no JSON: ${dressed.join(" ")}`),
  ] as AnthropicAnswer[]) {
    const { ask } = await whole([answer], { maxRetries: 0 });
    const failure = (await ask().catch((error: unknown) => error)) as ModelFailure;
    const everything = `${failure.stack} ${JSON.stringify(failure)} ${String(failure.cause)}`;
    for (const form of dressed) expect(everything).not.toContain(form);
  }
});

test("a key that no header can carry fails at once, unseen", async () => {
  const { ask } = await whole([hello], {}, { api_key: "sk-planted\nkey" });
  const failure = (await ask().catch((error: unknown) => error)) as ModelFailure;
  expect(failure).toMatchObject({ kind: "refused", retryable: false });
  expect(`${failure.stack} ${String(failure.cause)}`).not.toContain("sk-planted");
});

test("without a key of the model's own, none is sent, whatever the process's environment holds", async () => {
  vi.stubEnv("ANTHROPIC_API_KEY", KEY);
  vi.stubEnv("ANTHROPIC_AUTH_TOKEN", KEY);
  const { ask, received } = await whole([hello], {}, { api_key: "" });
  await ask();
  expect(Object.keys(received[0]?.headers ?? {})).not.toContain("x-api-key");
  expect(JSON.stringify(received[0])).not.toContain(KEY);
});

test("calls written as text are recovered only when asked for", async () => {
  const text = '<tool_call>{"name":"find_loan","arguments":{}}</tool_call>';
  const answer: AnthropicAnswer = { content: [{ type: "text", text }] };
  expect((await (await whole([answer])).ask()).toolCalls).toEqual([]);
  const { ask } = await whole([answer], { recoverTextCalls: true });
  expect(await ask()).toMatchObject({ toolCalls: [{ name: "find_loan" }], recovered: true });
});

test("in a text format there are no tools and no blocks of tools, and the reply ends before a result", async () => {
  const text = '<tool_call>\n{"name": "find_loan", "arguments": {"id": 7}}\n</tool_call>';
  const { client, received } = await whole([{ content: [{ type: "text", text }] }, hello]);
  const hermes = withToolFormat(client, "hermes");
  const first = await hermes.complete(requestOf({ messages: [user("Hello")], tools }), never);
  expect(first).toMatchObject({
    content: "",
    finish: "tool-calls",
    toolCalls: [{ name: "find_loan", arguments: '{"id": 7}' }],
  });
  const history = [user("Hello"), said(first), result(first.toolCalls[0]?.id ?? "", "found")];
  await hermes.complete(requestOf({ messages: history, tools }), never);
  for (const { body } of received) {
    expect(body).not.toHaveProperty("tools");
    expect(body.stop_sequences).toEqual(["<tool_response>"]);
  }
  expect(messagesOf(received[1]).map(({ content }) => content[0]?.text)).toEqual([
    "Hello",
    text,
    "<tool_response>\nfound\n</tool_response>",
  ]);
});
