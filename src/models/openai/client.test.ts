import type { ServerResponse } from "node:http";
import { type AddressInfo, createServer as createTcpServer } from "node:net";
import { afterEach, expect, test } from "vitest";
import {
  completion,
  createManualClock,
  failing,
  type ModelAnswer,
  modelAt,
  requestOf,
  serveModel,
} from "../../../test/support/model-server.ts";
import type { ToolSpec } from "../../core/index.ts";
import type { ModelFailure } from "../failure.ts";
import { createDispatchers, type Dispatchers } from "../http.ts";
import { createGates, type EndpointEvent } from "../limits.ts";
import { type ComposeDeps, composeEndpoint } from "../replicas.ts";
import type { CallSettings, ResolvedModel } from "../resolved.ts";
import type { WireDeps } from "../wire-client.ts";
import { createOpenAiClient } from "./client.ts";

const never = new AbortController().signal;
const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

function dispatchersFor(connectSeconds?: number): Dispatchers {
  const dispatchers = createDispatchers({}, connectSeconds);
  cleanups.push(() => dispatchers.close());
  return dispatchers;
}

async function serve(...answers: ModelAnswer[]) {
  const server = await serveModel(...answers);
  cleanups.push(server.close);
  return server;
}

/** A bare client connected to a server that plays these answers. */
async function bare(
  answers: ModelAnswer[],
  settings: CallSettings = {},
  more: Partial<ResolvedModel> & { idleSeconds?: number } = {},
) {
  const server = await serve(...answers);
  const deps = { dispatchers: dispatchersFor(), clock: createManualClock(), idleSeconds: more.idleSeconds ?? 30 };
  const client = createOpenAiClient(modelAt(server.baseUrl, more), settings, deps);
  return { ...server, call: (request = requestOf(), signal = never) => client.complete(request, signal) };
}

/** Composed as in connect.ts. */
function createEndpointClient(model: ResolvedModel, settings: CallSettings, deps: WireDeps & ComposeDeps) {
  const connect = (replica: ResolvedModel) => createOpenAiClient(replica, settings, deps);
  return composeEndpoint({ model, settings, deps, connect });
}

/** A fully composed client, on a clock where every wait ends at once. */
async function whole(answers: ModelAnswer[], settings: CallSettings = {}) {
  const server = await serve(...answers);
  const clock = createManualClock({ auto: true });
  const events: EndpointEvent[] = [];
  const gates = createGates({ clock, onEvent: (event) => events.push(event) });
  const deps = { dispatchers: dispatchersFor(), clock, gates, random: { next: () => 0.5 } };
  const client = createEndpointClient(modelAt(server.baseUrl), settings, deps);
  return { ...server, clock, events, call: (rollout = 0) => client.complete(requestOf({}, rollout), never) };
}

const hello = completion({ content: "Hi" }, { usage: { prompt_tokens: 3, completion_tokens: 1 } });
const tools: ToolSpec[] = [{ name: "find", description: "", parameters: {}, readOnly: true }];

test("a call goes to the completions path with key, headers and body, and comes back as a reply", async () => {
  const { call, received } = await bare(
    [hello],
    { temperature: 0 },
    { apiKey: "sk-1234", headers: { "X-Title": "t" } },
  );
  expect(await call()).toMatchObject({ content: "Hi", finish: "stop", usage: { inputTokens: 3, outputTokens: 1 } });
  expect(received).toMatchObject([
    {
      url: "/v1/chat/completions",
      headers: { authorization: "Bearer sk-1234", "x-title": "t", "content-type": "application/json" },
      body: { model: "model", temperature: 0 },
    },
  ]);
});

test("what the server says about itself is kept, and another model than the one asked for is marked", async () => {
  const say =
    (model: string, headers = {}) =>
    (response: ServerResponse) => {
      response.writeHead(200, headers);
      response.end(JSON.stringify({ ...hello, id: "c-1", model, system_fingerprint: "fp_9" }));
    };
  const litellm = { "x-litellm-attempted-fallbacks": "1", "x-litellm-model-id": "m-2", "set-cookie": "a=b" };
  const { call } = await bare(
    [say("gpt-4o-2024-08-06"), say("gpt-4o-mini", litellm), say("claude-sonnet-4"), hello],
    {},
    { model: "gpt-4o" },
  );
  expect((await call()).served).toEqual({ model: "gpt-4o-2024-08-06", id: "c-1", fingerprint: "fp_9" });
  expect((await call()).served).toMatchObject({
    headers: { "x-litellm-attempted-fallbacks": "1", "x-litellm-model-id": "m-2" },
  });
  expect((await call()).served).toMatchObject({ model: "claude-sonnet-4", insteadOf: "gpt-4o" });
  expect(await call()).not.toHaveProperty("served");
});

test("every request says who sends it, and headers may tell which call it is", async () => {
  const headers = { "X-Trace": "{run}/{query_id}#{rollout} {party} {other}", "User-Agent": "mine" };
  const { call, received } = await bare([hello], {}, { headers });
  await call(requestOf({ origin: { ...requestOf().origin, queryId: "q\n7 é" } }));
  expect(received[0]?.headers).toMatchObject({ "x-trace": "/q%0A7 %C3%A9#0 agent {other}", "user-agent": "mine" });
  const plain = await bare([hello]);
  await plain.call();
  expect(plain.received[0]?.headers["user-agent"]).toMatch(/^rollout\/\d/);
});

test("a reply that ends where the context ends was cut by the context", async () => {
  const cut = (prompt: number, completed: number) =>
    completion({ content: "Hi" }, { usage: { prompt_tokens: prompt, completion_tokens: completed } }, "length");
  const { call } = await bare([cut(1000, 24), cut(900, 24)], {}, { contextLength: 1024 });
  expect((await call()).finish).toBe("context-length");
  expect((await call()).finish).toBe("length");
  const unknown = await bare([cut(1000, 25)]);
  expect((await unknown.call()).finish).toBe("length");
});

test("without a key nothing is sent in its place", async () => {
  const { call, received } = await bare([hello]);
  await call();
  expect(received[0]?.headers).not.toHaveProperty("authorization");
});

test.each([
  ["a body that is no JSON", (response) => response.end('{"choices":[{"message":{"content":"Hel')],
  ["an empty body", (response) => response.end()],
  ["no choices", { choices: [] }],
  ["a choice without a message", { choices: [{}] }],
  ["an error dressed as success", { error: { message: "upstream broke" } }],
  ["an error inside the choice", { choices: [{ error: { message: "upstream broke" } }] }],
  ["a reply the server broke off", completion({ content: "Hel" }, {}, "insufficient_system_resource")],
] as [string, ModelAnswer][])("%s is infrastructure, worth another try, and never read by guess", async (_, answer) => {
  const { call } = await bare([answer]);
  await expect(call()).rejects.toMatchObject({ kind: "bad-reply", retryable: true, boundary: "infrastructure" });
});

test("an error dressed as success with a status in it is what that status says", async () => {
  const { call } = await bare([{ error: { message: "slow down", code: 429 } }]);
  await expect(call()).rejects.toMatchObject({ kind: "rate-limit", retryable: true });
});

test.each([
  ["a reset before the answer", (response) => response.socket?.resetAndDestroy()],
  [
    "a body shorter than announced",
    (response) => {
      response.writeHead(200, { "content-length": "1000" });
      response.write('{"choices":', () => response.socket?.destroy());
    },
  ],
  ["a chunked body that breaks off", (response) => response.write('{"choices":', () => response.socket?.destroy())],
] as [string, ModelAnswer][])("%s is a network failure", async (_, answer) => {
  const { call } = await bare([answer]);
  await expect(call()).rejects.toMatchObject({ kind: "network", retryable: true });
});

const deep = `${"[".repeat(10_000)}${"]".repeat(10_000)}`;

test.each([
  ["arguments as an object", `"tool_calls":[{"id":"a","function":{"name":"find","arguments":{"a":${deep}}}}]`],
  ["blocks of reasoning", `"reasoning_details":${deep}`],
  ["what comes with a call", `"tool_calls":[{"function":{"name":"find"},"extra_content":${deep}}]`],
])("a reply that is nested thousands deep is refused at the door: %s", async (_, member) => {
  const { call } = await bare([(response) => response.end(`{"choices":[{"message":{"content":"Hi",${member}}}]}`)]);
  await expect(call()).rejects.toMatchObject({ kind: "bad-reply", retryable: false });
  await expect(call()).rejects.toThrow("nested deeper than 128 levels");
});

test("an error nested thousands deep, or without an end, is an error like any other", async () => {
  const { call } = await bare([failing(400, `{"error":{"message":${deep}}}`)]);
  await expect(call()).rejects.toMatchObject({ kind: "refused", status: 400 });
  const flood = await bare([endless(503)]);
  await expect(flood.call()).rejects.toMatchObject({ kind: "server", status: 503, retryable: true });
});

test("a reply without an end is cut off, and says how much is too much", async () => {
  const { call } = await bare([endless(200)]);
  await expect(call()).rejects.toMatchObject({ kind: "bad-reply", retryable: false });
  await expect(call()).rejects.toThrow("answered with more than 16 MB");
});

/** Sends for as long as anybody listens. */
function endless(status: number): ModelAnswer {
  return (response) => {
    response.writeHead(status);
    const piece = Buffer.alloc(1 << 20, "x");
    const send = () => {
      while (!response.destroyed && response.write(piece));
      if (!response.destroyed) response.once("drain", send);
    };
    send();
  };
}

test("nobody listening is a network failure that names the endpoint", async () => {
  const server = await serveModel(hello);
  await server.close();
  const deps = { dispatchers: dispatchersFor(), clock: createManualClock() };
  const failure = createOpenAiClient(modelAt(server.baseUrl), {}, deps).complete(requestOf(), never);
  await expect(failure).rejects.toMatchObject({ kind: "network", retryable: true });
  await expect(failure).rejects.toThrow(`${server.baseUrl}/chat/completions: ECONNREFUSED`);
});

test("what is no HTTP is a bad reply, not a lost connection", async () => {
  const server = createTcpServer((socket) => socket.once("data", () => socket.end("SSH-2.0-OpenSSH_9.6\r\n")));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  cleanups.push(async () => server.close());
  const deps = { dispatchers: dispatchersFor(), clock: createManualClock() };
  const model = modelAt(`http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`);
  const failure = createOpenAiClient(model, {}, deps).complete(requestOf(), never);
  await expect(failure).rejects.toMatchObject({ kind: "bad-reply", retryable: true });
  await expect(failure).rejects.toThrow("answered what is no HTTP");
});

test("a name that does not resolve is a network failure", async () => {
  const deps = { dispatchers: dispatchersFor(), clock: createManualClock() };
  const client = createOpenAiClient(modelAt("http://no-such-host.invalid/v1"), {}, deps);
  await expect(client.complete(requestOf(), never)).rejects.toMatchObject({ kind: "network", retryable: true });
});

test("a server that never answers meets the limit for the whole call", async () => {
  const { call } = await bare([() => undefined], { timeoutSeconds: 0.1 });
  await expect(call()).rejects.toMatchObject({ kind: "timeout", retryable: true });
  await expect(call()).rejects.toThrow("the whole call took longer than 0.1 s");
});

test("an answer that begins and then stands still meets the idle limit", async () => {
  const { call } = await bare([(response) => response.write('{"choices":')], {}, { idleSeconds: 0.1 });
  await expect(call()).rejects.toThrow("the next piece of the answer took longer than 0.1 s");
});

test("an answer that drips without end meets the limit for the whole call", async () => {
  const drip: ModelAnswer = (response) => {
    const timer = setInterval(() => response.write(" "), 20);
    response.on("close", () => clearInterval(timer));
  };
  const { call } = await bare([drip], { timeoutSeconds: 0.3 });
  await expect(call()).rejects.toThrow("the whole call took longer than 0.3 s");
});

test("an answer that drips, but ends in time, is an answer", async () => {
  const text = JSON.stringify(hello);
  const { call } = await bare([
    (response) => {
      let sent = 0;
      const timer = setInterval(() => {
        response.write(text.slice(sent, sent + 30));
        sent += 30;
        if (sent < text.length) return;
        clearInterval(timer);
        response.end();
      }, 5);
    },
  ]);
  expect((await call()).content).toBe("Hi");
});

test("a handshake that never ends meets the limit for connecting", async () => {
  // TLS to a server that says nothing
  const silent = createTcpServer(() => undefined);
  await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
  cleanups.push(async () => silent.close());
  const { port } = silent.address() as { port: number };
  const deps = { dispatchers: dispatchersFor(0.1), clock: createManualClock() };
  const client = createOpenAiClient(modelAt(`https://127.0.0.1:${port}/v1`), {}, deps);
  await expect(client.complete(requestOf(), never)).rejects.toMatchObject({ kind: "timeout", retryable: true });
});

test("an abort by the caller comes back as the caller's reason, before and during the call", async () => {
  const controller = new AbortController();
  const reason = new Error("enough");
  const { call } = await bare([() => controller.abort(reason)]);
  await expect(call(requestOf(), controller.signal)).rejects.toBe(reason);
  await expect(call(requestOf(), controller.signal)).rejects.toBe(reason);
});

test("many calls share one signal without a word from the runtime", async () => {
  const warnings: Error[] = [];
  const listen = (warning: Error) => warnings.push(warning);
  process.on("warning", listen);
  const { call } = await bare([hello]);
  const { signal } = new AbortController();
  await Promise.all(Array.from({ length: 50 }, () => call(requestOf(), signal)));
  process.off("warning", listen);
  expect(warnings).toEqual([]);
});

test("a key appears in no error, however the server repeats it", async () => {
  const key = "sk-planted/secret+key";
  const dressed = [key, encodeURIComponent(key), Buffer.from(key).toString("base64")].join(" ");
  const { call } = await bare(
    [failing(401, { error: { message: `bad key ${dressed}` } })],
    {},
    { apiKey: key, keyName: "MY_KEY" },
  );
  const failure = (await call().catch((error: unknown) => error)) as ModelFailure;
  expect(failure.message).toContain("MY_KEY");
  const everything = `${failure.stack} ${JSON.stringify(failure)} ${String(failure.cause)}`;
  for (const form of dressed.split(" ")) expect(everything).not.toContain(form);
});

test("a key that no header can carry fails at once, unseen", async () => {
  const { call } = await bare([hello], {}, { apiKey: "sk-planted\nkey", keyName: "MY_KEY" });
  const failure = (await call().catch((error: unknown) => error)) as ModelFailure;
  expect(failure).toMatchObject({ kind: "refused", retryable: false });
  expect(failure.message).not.toContain("sk-planted");
});

test("calls written as text are recovered only when asked for", async () => {
  const answer = completion({ content: '<tool_call>{"name":"find","arguments":{}}</tool_call>' });
  const plain = await (await bare([answer])).call(requestOf({ tools }));
  expect(plain.toolCalls).toEqual([]);
  const { call } = await bare([answer], { recoverTextCalls: true });
  expect(await call(requestOf({ tools }))).toMatchObject({ toolCalls: [{ name: "find" }], recovered: true });
  expect((await call(requestOf({ tools, toolChoice: "none" }))).toolCalls).toEqual([]);
});

test("a rate limit in seconds or as a date, or handed on by LiteLLM, is waited out in full and seen", async () => {
  const date = new Date(1_000_000 + 120_000).toUTCString();
  const { call, clock, events } = await whole([
    failing(429, "", { "retry-after": "7" }),
    failing(429, "", { "retry-after": date }),
    failing(429, "", { "LLM_Provider-Retry-After": "42" }),
    hello,
  ]);
  expect((await call()).content).toBe("Hi");
  expect(clock.slept).toEqual([7000, 113_000, 42_000]);
  expect(events.map(({ type, seconds }) => [type, seconds])).toEqual([
    ["endpoint-wait", 7],
    ["endpoint-wait", 113],
    ["endpoint-wait", 42],
  ]);
});

test("a server that takes three at once and refuses the rest serves forty rollouts to the end", async () => {
  let running = 0;
  const narrow: ModelAnswer = (response) => {
    if (running >= 3) return failing(429, "too many")(response);
    running++;
    setTimeout(() => {
      running--;
      response.end(JSON.stringify(hello));
    }, 2);
  };
  const { call } = await whole([narrow]);
  const replies = await Promise.all(Array.from({ length: 40 }, (_, rollout) => call(rollout)));
  expect(replies).toHaveLength(40);
});

test("a burst of 5xx, resets and cut bodies is outlasted", async () => {
  const { call, received } = await whole([
    failing(500),
    failing(503, "busy"),
    (response) => response.socket?.resetAndDestroy(),
    (response) => response.end('{"choi'),
    hello,
  ]);
  expect((await call()).content).toBe("Hi");
  expect(received).toHaveLength(5);
});

test("a 5xx that always comes back ends the rollout as infrastructure", async () => {
  const { call, received } = await whole([failing(500, "boom")], { maxRetries: 3 });
  await expect(call()).rejects.toMatchObject({ stopReason: "infrastructure", boundary: "infrastructure" });
  expect(received).toHaveLength(4);
});

test("overflow, filter and a bad key are asked once", async () => {
  for (const [status, message, stopReason] of [
    [400, "maximum context length is 10 tokens", "context_overflow"],
    [400, "Content Exists Risk", "content_filter"],
    [401, "invalid key", "infrastructure"],
  ] as const) {
    const { call, received } = await whole([failing(status, { error: { message } })]);
    await expect(call()).rejects.toMatchObject({ stopReason, retryable: false });
    expect(received).toHaveLength(1);
  }
});

test("replicas share the rollouts, and those of one that dies move to the other", async () => {
  const slow: ModelAnswer = (response) => setTimeout(() => response.end(JSON.stringify(hello)), 20);
  const [first, second] = [await serve(slow), await serve(slow)];
  const clock = createManualClock({ auto: true });
  const deps = { dispatchers: dispatchersFor(), clock, gates: createGates({ clock }), random: { next: () => 0.5 } };
  const client = createEndpointClient(modelAt([first.baseUrl, second.baseUrl]), {}, deps);
  const round = () => Promise.all([0, 1, 2, 3].map((rollout) => client.complete(requestOf({}, rollout), never)));
  await round();
  await round();
  expect([first.received.length, second.received.length]).toEqual([4, 4]);
  await first.close();
  expect(await round()).toHaveLength(4);
  expect(second.received).toHaveLength(8);
});
