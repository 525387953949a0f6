import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { completion, failing, type ModelAnswer, modelAt, serveModel } from "../../../test/support/model-server.ts";
import { type JsonObject, systemClock } from "../../core/index.ts";
import type { ResolvedModel } from "../resolved.ts";
import type { ProbeDeps } from "./endpoint.ts";
import type { Finding } from "./finding.ts";
import { probeModel } from "./probe-model.ts";

const signal = new AbortController().signal;

async function examine(
  baseUrl: string,
  more: Partial<ResolvedModel> = {},
  { role = "agent", ...deps }: Partial<ProbeDeps> & { role?: "agent" | "user" | "judge" } = {},
): Promise<Finding[]> {
  const [report] = await probeModel(modelAt(baseUrl, more), role, { env: {}, clock: systemClock, signal, ...deps });
  return report?.findings ?? [];
}

async function serve(answer: ModelAnswer) {
  const server = await serveModel(answer);
  onTestFinished(() => server.close());
  return server;
}

const CALL = { id: "c", type: "function", function: { name: "get_weather", arguments: '{"city":"Paris"}' } };
const usage = { usage: { prompt_tokens: 20, completion_tokens: 5 } };
const said = (content: string, more: JsonObject = usage) => completion({ content }, more);
const calls = completion({ content: "", tool_calls: [CALL] }, usage);
const send = (response: ServerResponse, body: JsonObject) => void response.end(JSON.stringify(body));

/** Whether this is the question for one call, and no answer to it yet. */
const asksForOne = (body: JsonObject) => {
  const messages = body.messages as { role: string; content: string }[];
  return body.tools !== undefined && messages.at(-1)?.content.startsWith("What is the weather in Paris? Use");
};

test.each([
  [[true, true, true], { level: "ok", text: "calls a tool" }],
  [[false, true, true], { level: "odd", text: "calls a tool (in 2 of 3 samples)" }],
  [[false, false, true], { level: "odd", text: "calls a tool (in 1 of 3 samples)" }],
  [[false, false, false], { level: "bad", text: expect.stringMatching(/^does not call a tool when asked to/) }],
])("a verdict about tool calls is made of three samples: %j", async (plan, expected) => {
  let asked = 0;
  const { baseUrl } = await serve((response, { body }) => {
    const isCalled = asksForOne(body) && plan[asked++];
    send(response, isCalled ? calls : said("I could look that up."));
  });
  const finding = (await examine(baseUrl)).find(({ text }) => /call(s)? a tool/.test(text));
  expect(finding).toMatchObject(expected);
  expect(asked).toBe(3);
  const answers = [
    ...(plan.includes(false) ? ['"I could look that up."'] : []),
    ...(plan.includes(true) ? ['get_weather({"city":"Paris"})'] : []),
  ];
  expect(finding?.said?.sort()).toEqual(answers);
});

test("an endpoint that fails now and then is odd, not unusable; one that always fails is told of with its samples", async () => {
  let asked = 0;
  const shaky = await serve((response) =>
    asked++ === 0 ? failing(500, "oops")(response) : send(response, said("ready")),
  );
  const findings = await examine(shaky.baseUrl, {}, { role: "user" });
  expect(findings.slice(0, 2)).toMatchObject([
    { level: "odd", text: expect.stringMatching(/failed \(500\).*\(in 1 of 3 samples\)/) },
    { level: "ok", text: "answers (in 2 of 3 samples)", said: ['"ready"'] },
  ]);
  const broken = await serve(failing(500, "oops"));
  expect(await examine(broken.baseUrl)).toMatchObject([
    { level: "bad", text: expect.stringMatching(/\(3 samples\)$/) },
  ]);
  expect(broken.received).toHaveLength(3);
  const closed = await serve(failing(401, "no"));
  await examine(closed.baseUrl);
  expect(closed.received).toHaveLength(1);
});

test("probes are short, and a model that thinks first gets more before it is judged", async () => {
  const { baseUrl, received } = await serve((response, { body }) => {
    const isShort = Number(body.max_tokens) < 1000;
    send(response, isShort ? completion({ content: "", reasoning_content: "Hm" }, usage, "length") : said("ready"));
  });
  expect((await examine(baseUrl, {}, { role: "user" }))[0]).toMatchObject({ level: "ok", text: "answers" });
  expect(received[0]?.body.max_tokens).toBeLessThanOrEqual(256);
  expect(received.every(({ body }) => Number(body.max_tokens) <= 4096)).toBe(true);
});

test("the run's own limit is kept, and blamed where it cuts the answer", async () => {
  const { baseUrl, received } = await serve((response) => send(response, completion({ content: "" }, usage, "length")));
  const party = { settings: { maxTokens: 40 } };
  const [finding] = await examine(baseUrl, {}, { party });
  expect(finding).toMatchObject({ level: "bad", text: expect.stringContaining("cut") });
  expect(finding?.fix).toEqual({ where: "agent", yaml: "max_tokens: 4096" });
  expect(received.every(({ body }) => body.max_tokens === 40)).toBe(true);
});

test("an endpoint that takes no max_tokens is examined without", async () => {
  const message =
    "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.";
  const { baseUrl } = await serve((response, { body }) =>
    body.max_tokens === undefined
      ? send(response, said("ready"))
      : failing(400, { error: { message, param: "max_tokens" } })(response),
  );
  const findings = await examine(baseUrl, {}, { role: "user" });
  expect(findings.map(({ level }) => level)).toEqual(["odd", "ok", "ok"]);
  expect(findings[0]?.text).toMatch(/^takes no max_tokens: .*max_completion_tokens/);
  expect(findings[0]?.text).not.toContain("in the config");
});

/** A server that takes connections and requests, and never answers; tells whether its callers hung up. */
async function serveSilence() {
  const closed: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    response.on("close", () => closed.push(request));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, closed };
}

test("a time-out is called one, and its call is cancelled at the server", async () => {
  const { baseUrl, closed } = await serveSilence();
  const findings = await examine(baseUrl, {}, { timeoutSeconds: 0.2 });
  expect(findings).toMatchObject([
    {
      level: "bad",
      text: expect.stringMatching(
        /^time-out: http:.* took the request but did not answer in time .*0\.2 s.*\(3 samples\)$/,
      ),
    },
  ]);
  await expect.poll(() => closed.length).toBe(3);
});

test("the time-out of a run's config is the doctor's", async () => {
  const { baseUrl } = await serveSilence();
  const [finding] = await examine(
    baseUrl,
    { dialect: "anthropic", apiKey: "k" },
    { party: { settings: { timeoutSeconds: 0.1 } } },
  );
  expect(finding?.text).toMatch(/^time-out: .*longer than 0\.\d{1,3} s/);
});

test("whoever stops the doctor cancels its calls", async () => {
  const { baseUrl, closed } = await serveSilence();
  const stop = new AbortController();
  const examined = examine(baseUrl, {}, { signal: stop.signal });
  setTimeout(() => stop.abort(new Error("stopped")), 50);
  await expect(examined).rejects.toThrow("stopped");
  await expect.poll(() => closed.length).toBe(1);
});

test("a template that drops the tools is named by the tokens of the prompt", async () => {
  const promptOf = (withTools: number) =>
    serve((response, { body }) =>
      send(response, said("No.", { usage: { prompt_tokens: body.tools ? withTools : 31, completion_tokens: 1 } })),
    );
  const [dropped, kept] = [await promptOf(31), await promptOf(140)];
  const bad = async (baseUrl: string) => (await examine(baseUrl)).find(({ level }) => level === "bad");
  expect(await bad(dropped.baseUrl)).toMatchObject({
    text: expect.stringMatching(
      /never sees one: the prompt has 31 tokens with tools and without, so the chat template drops them/,
    ),
    said: ['"No."'],
  });
  expect((await bad(kept.baseUrl))?.text).toMatch(
    /though the tools are in its prompt \(140 tokens with tools, 31 without\)/,
  );
});

test("calls as text from a model that is not shown its tools are told to be guesses", async () => {
  const { baseUrl } = await serve((response, { body }) =>
    send(
      response,
      said(body.tools ? '<tool_call>{"name":"get_weather","arguments":{"city":"Paris"}}</tool_call>' : "ready"),
    ),
  );
  const odd = (await examine(baseUrl)).filter(({ level }) => level === "odd").map(({ text }) => text);
  expect(odd.slice(0, 2)).toEqual([
    expect.stringMatching(/^writes its tool calls as text/),
    expect.stringMatching(
      /^its calls are guesses .* 20 tokens with tools and without, so the chat template drops them/,
    ),
  ]);
});

type Facts = { models?: JsonObject; paths?: { [path: string]: JsonObject }; headers?: { [name: string]: string } };

/** Never calls a tool, and says who it is. */
async function serveNamed(facts: Facts, answer: JsonObject) {
  const server = createServer((request, response) => {
    for (const [name, value] of Object.entries(facts.headers ?? {})) response.setHeader(name, value);
    const found = request.url?.endsWith("/models") ? facts.models : facts.paths?.[request.url ?? ""];
    if (request.method === "GET") response.writeHead(found ? 200 : 404).end(JSON.stringify(found ?? {}));
    else request.resume().on("end", () => response.end(JSON.stringify(answer)));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
}

const owned = (owner: string) => ({ models: { object: "list", data: [{ id: "m", owned_by: owner }] } });

test.each<[string, Facts, RegExp]>([
  ["vLLM, by its models", owned("vllm"), /vLLM \(owned_by: vllm\): .*--enable-auto-tool-choice --tool-call-parser/],
  ["vLLM, by its version", { paths: { "/version": { version: "0.32.0" } } }, /vLLM \(version 0\.32\.0\)/],
  ["SGLang", owned("sglang"), /SGLang.*: start it with --tool-call-parser NAME/],
  ["llama.cpp, by its header", { models: {}, headers: { server: "llama.cpp" } }, /llama\.cpp.*--jinja/],
  ["llama.cpp, by its models", owned("llamacpp"), /--jinja/],
  ["Ollama", { paths: { "/api/version": { version: "0.12.1" } } }, /Ollama \(version 0\.12\.1\): choose a model/],
  ["LiteLLM", { models: {}, headers: { "x-litellm-version": "1.106.0" } }, /LiteLLM.*drop_params/],
  ["nobody", {}, /^a server of your own/],
])("advice fits the server: %s", async (_, facts, expected) => {
  const answer = said("No.", {});
  const bad = (await examine(await serveNamed(facts, answer))).find(({ level }) => level === "bad");
  expect(bad?.hint).toMatch(expected);
});

const DIALECTS: { [name: string]: JsonObject } = {
  anthropic: {
    type: "message",
    id: "m",
    model: "m",
    role: "assistant",
    content: [{ type: "text", text: "No." }],
    stop_reason: "end_turn",
    usage: { input_tokens: 1, output_tokens: 1 },
  },
  google: {
    candidates: [{ content: { role: "model", parts: [{ text: "No." }] }, finishReason: "STOP" }],
    usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1 },
  },
  cohere: {
    message: { role: "assistant", content: [{ type: "text", text: "No." }] },
    finish_reason: "COMPLETE",
    usage: { tokens: { input_tokens: 1, output_tokens: 1 } },
  },
  mistral: {
    ...said("No.", { usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 } }),
    id: "m",
    model: "m",
    object: "chat.completion",
    created: 1,
  },
};

test.each(Object.keys(DIALECTS))("a %s endpoint is not told to set a server's flags", async (dialect) => {
  const baseUrl = await serveNamed({}, DIALECTS[dialect] as JsonObject);
  const findings = await examine(baseUrl, { dialect, apiKey: "k" });
  expect(findings.find(({ level }) => level === "bad")).toMatchObject({
    text: expect.stringMatching(/^does not call a tool/),
  });
  expect(JSON.stringify(findings)).not.toMatch(/--(enable|tool|jinja|reasoning|chat)/);
});

test.each([
  ["openai", "", "/v1"],
  ["openai", "/gateway/", "/gateway/v1"],
  ["responses", "", "/v1"],
])(
  "an api_base of the %s wire without its version (%j) is tried with it, and said",
  async (dialect, path, corrected) => {
    const response = {
      output: [{ type: "message", content: [{ type: "output_text", text: "ready" }] }],
      status: "completed",
    };
    const { baseUrl, received } = await serve((answer, { url }) =>
      url.startsWith(`${corrected}/`)
        ? send(answer, dialect === "openai" ? said("ready") : response)
        : failing(404, { detail: "Not Found" })(answer),
    );
    const root = baseUrl.replace(/\/v1$/, "");
    const findings = await examine(`${root}${path}`, { dialect }, { role: "user" });
    expect(findings.slice(0, 2)).toMatchObject([
      {
        level: "bad",
        text: expect.stringMatching(
          /^there is nothing at this address \(404\): api_base lacks \/v1; with it the server answers/,
        ),
        fix: { where: "models", yaml: `api_base: ${root}${corrected}` },
      },
      { level: "ok", text: "answers" },
    ]);
    expect(received[0]?.url.startsWith(corrected)).toBe(false);
  },
);

test("an address that is wrong with its version too, or has one, keeps its own words", async () => {
  const { baseUrl, received } = await serve(failing(404, { error: { message: "no such model" } }));
  const text = expect.stringMatching(/does not know model \(404\).*no such model/);
  expect(await examine(baseUrl)).toMatchObject([{ level: "bad", text }]);
  expect(received).toHaveLength(1);
  expect(await examine(baseUrl.replace("/v1", ""))).toMatchObject([{ level: "bad", text }]);
});

test("a setting that is refused is named with its place, and the rest is found out without it", async () => {
  const { baseUrl } = await serve((response, { body }) =>
    body.temperature === undefined
      ? send(response, said("ready"))
      : failing(400, { error: { message: "`temperature` is deprecated for this model." } })(response),
  );
  const party = { settings: { temperature: 0.2 }, places: { temperature: "user_temperature" } };
  expect(await examine(baseUrl, {}, { party, role: "user" })).toMatchObject([
    {
      level: "bad",
      text: expect.stringMatching(
        /That is user_temperature: 0\.2 \(in the config, or --user-temperature\): remove or change it/,
      ),
    },
    { level: "ok", text: "answers" },
    { level: "ok" },
  ]);
});

test("settings that are not sent are told before anything is asked", async () => {
  const { baseUrl, received } = await serve(said("ready"));
  const refuses = { never: ["temperature"] as const };
  const [finding] = await examine(baseUrl, { refuses }, { party: { settings: { temperature: 0.2 } }, role: "judge" });
  expect(finding).toMatchObject({ level: "odd", text: "test/model takes no temperature: temperature 0.2 is not sent" });
  expect(received.every(({ body }) => body.temperature === undefined)).toBe(true);
});
