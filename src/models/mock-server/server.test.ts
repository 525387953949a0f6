import { once } from "node:events";
import { connect } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import type { JsonObject } from "../../core/index.ts";
import type { Script } from "../scripted/script.ts";
import { type MockServer, type MockServerOptions, startMockServer } from "./server.ts";

const SCRIPT: Script = {
  plan: [
    {
      steps: [{ think: "Look first.", calls: [{ name: "find", arguments: { id: "7" } }] }],
      say: "It is {{find.title}}.",
    },
    { user: "Thanks! ###STOP###" },
  ],
  wireName: (name) => name,
  planName: (name) => name,
};
const TOOLS = [
  {
    type: "function",
    function: {
      name: "find",
      parameters: { type: "object", properties: { id: { type: "string" } }, required: ["id"] },
    },
  },
];
const OPENING = { role: "user", content: "Which book is 7?" };
const CALL = { id: "c1", type: "function", function: { name: "find", arguments: '{"id":"7"}' } };

async function serve(options: Partial<MockServerOptions> = {}): Promise<MockServer> {
  const findScript: MockServerOptions["findScript"] = ({ opening }) =>
    opening === OPENING.content ? SCRIPT : undefined;
  const server = await startMockServer({ findScript, ...options });
  onTestFinished(() => server.close());
  return server;
}

type Asked = { body: Partial<JsonObject>; headers?: { [name: string]: string } };

function post(server: MockServer, { body, headers = {} }: Asked): Promise<Response> {
  const whole = { model: "scripted-agent", messages: [OPENING], tools: TOOLS, ...body };
  return fetch(`${server.url}/chat/completions`, { method: "POST", headers, body: JSON.stringify(whole) });
}

type Completion = {
  choices: {
    message: { content: string | null; reasoning_content?: string; tool_calls?: (typeof CALL)[] };
    finish_reason: string;
  }[];
  usage: { prompt_tokens: number; prompt_tokens_details: { cached_tokens: number } };
};

async function complete(server: MockServer, body: Partial<JsonObject> = {}): Promise<Completion> {
  return (await (await post(server, { body })).json()) as Completion;
}

test("the agent's steps are played over the wire, with reasoning, calls and plausible usage", async () => {
  const server = await serve();
  const first = await complete(server);
  expect(first.choices[0]).toMatchObject({
    message: { content: null, reasoning_content: "Look first.", tool_calls: [{ function: CALL.function }] },
    finish_reason: "tool_calls",
  });
  expect(first.usage.prompt_tokens_details.cached_tokens).toBe(0);
  const calls = first.choices[0]?.message.tool_calls ?? [];
  const second = await complete(server, {
    messages: [
      { role: "system", content: "You lend books. ".repeat(50) },
      OPENING,
      { role: "assistant", content: null, tool_calls: calls },
      { role: "tool", tool_call_id: calls[0]?.id ?? "", content: '{"title":"Middlemarch"}' },
    ],
  });
  expect(second.choices[0]).toMatchObject({ message: { content: "It is Middlemarch." }, finish_reason: "stop" });
  const { prompt_tokens, prompt_tokens_details } = second.usage;
  expect(prompt_tokens_details.cached_tokens).toBeGreaterThan(0);
  expect(prompt_tokens_details.cached_tokens).toBeLessThan(prompt_tokens);
});

test("the user finds the query by its own first words, and a dialogue that nobody knows gets a plain answer", async () => {
  const server = await serve();
  const user = { model: "scripted/user", tools: [] };
  const hello = { role: "user", content: "Hello!" };
  const said = { role: "assistant", content: OPENING.content };
  const known = await complete(server, { ...user, messages: [hello, said, { role: "user", content: "Middlemarch." }] });
  expect(known.choices[0]?.message.content).toBe("Thanks! ###STOP###");
  const unknown = await complete(server, { ...user, messages: [hello] });
  expect(unknown.choices[0]?.message.content).toContain("###STOP###");
  const agent = await complete(server, { messages: [{ role: "user", content: "What else?" }] });
  expect(agent.choices[0]).toMatchObject({ message: { content: expect.stringContaining("no reference plan") } });
});

test("without the plan's tools the agent refuses, perhaps after a question, and its user ends the dialogue", async () => {
  const server = await serve();
  const lengths = new Set<number>();
  for (let seed = 0; seed < 20; seed++) {
    const said = [OPENING.content];
    const next = async (model: string, speaker: 0 | 1) => {
      const messages = said.map((content, index) => ({ role: index % 2 === speaker ? "assistant" : "user", content }));
      const reply = await complete(server, { model, messages, tools: [], seed });
      said.push(reply.choices[0]?.message.content ?? "");
    };
    while (!said.at(-1)?.includes("###") && said.length < 10) {
      await next("scripted-agent", 1);
      await next("scripted-user", 0);
    }
    expect(said.at(-2)).toMatch(/can't|isn't possible|unable|don't have|beyond/);
    lengths.add(said.length);
  }
  expect(lengths).toEqual(new Set([3, 5]));
});

test("a streamed reply is the whole reply in pieces, and ends with usage where that is asked for", async () => {
  const server = await serve();
  const response = await post(server, { body: { stream: true, stream_options: { include_usage: true } } });
  expect(response.headers.get("content-type")).toBe("text/event-stream");
  const lines = (await response.text())
    .split("\n\n")
    .filter(Boolean)
    .map((line) => line.replace("data: ", ""));
  expect(lines.at(-1)).toBe("[DONE]");
  type Delta = {
    reasoning_content?: string;
    tool_calls?: { id?: string; function: { name?: string; arguments: string } }[];
  };
  const chunks = lines
    .slice(0, -1)
    .map((line) => JSON.parse(line) as { choices: { delta: Delta; finish_reason: string }[]; usage?: object });
  const deltas = chunks.flatMap(({ choices }) => choices.map(({ delta }) => delta));
  expect(deltas.map((delta) => delta.reasoning_content ?? "").join("")).toBe("Look first.");
  const calls = deltas.flatMap((delta) => delta.tool_calls ?? []);
  expect(calls[0]).toMatchObject({ id: expect.any(String), function: { name: "find" } });
  expect(calls.map((call) => call.function.arguments).join("")).toBe('{"id":"7"}');
  expect(chunks.at(-2)?.choices[0]?.finish_reason).toBe("tool_calls");
  expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { prompt_tokens: expect.any(Number) } });
});

test("models and health are answered; another path, model or knob is refused in OpenAI's words", async () => {
  const server = await serve();
  const models = (await (await fetch(`${server.url}/models`)).json()) as { data: { id: string }[] };
  expect(models.data.map(({ id }) => id)).toEqual(["scripted-agent", "scripted-user", "scripted-judge"]);
  expect((await fetch(`${server.url.replace("/v1", "")}/health`)).status).toBe(200);
  expect((await fetch(`${server.url}/embeddings`)).status).toBe(404);
  for (const model of ["gpt-5", "scripted-agent?skill=2"]) {
    const response = await post(server, { body: { model } });
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({ error: { code: "model_not_found" } });
  }
});

test.each<[string, JsonObject[]]>([
  [
    "arguments that are no JSON",
    [{ role: "assistant", content: "", tool_calls: [{ ...CALL, function: { name: "find", arguments: "{" } }] }],
  ],
  [
    "a call without an answer",
    [
      { role: "assistant", content: "", tool_calls: [CALL] },
      { role: "user", content: "So?" },
    ],
  ],
  ["an answer without a call", [{ role: "tool", tool_call_id: "c9", content: "" }]],
  ["two calls of one id", [{ role: "assistant", content: "", tool_calls: [CALL, CALL] }]],
])("history with %s is refused, as by picky servers", async (_, history) => {
  const response = await post(await serve(), { body: { messages: [OPENING, ...history] } });
  expect(response.status).toBe(400);
});

test("where a key is asked for, any other is refused", async () => {
  const server = await serve({ apiKey: "sk-right" });
  expect((await post(server, { body: {}, headers: { authorization: "Bearer sk-wrong" } })).status).toBe(401);
  expect((await post(server, { body: {}, headers: { authorization: "Bearer sk-right" } })).status).toBe(200);
});

test("after a mistake on purpose the agent plays the same step again, as it should have been", async () => {
  const server = await serve({ faults: "malformed@1-2" });
  const messages: JsonObject[] = [OPENING];
  const names: string[] = [];
  for (let step = 0; step < 3; step++) {
    const [call] = (await complete(server, { messages })).choices[0]?.message.tool_calls ?? [];
    names.push(call?.id ?? "");
    const sent = { ...CALL, id: call?.id ?? "" };
    messages.push({ role: "assistant", content: "", tool_calls: [sent] });
    messages.push({ role: "tool", tool_call_id: sent.id, content: '{"title":"Emma"}' });
  }
  expect(new Set(names).size).toBe(3);
  expect((await complete(server, { messages })).choices[0]?.message.content).toBe("It is Emma.");
  expect(server.requests()).toMatchObject({ asked: 4, replied: 4, faults: { malformed: 2 } });
});

test("reasoning is written into the text where that is asked for", async () => {
  const server = await serve({ inlineReasoning: true });
  expect((await complete(server)).choices[0]?.message).toMatchObject({
    content: expect.stringMatching(/^<think>\nLook first\.\n<\/think>/),
    tool_calls: [{ function: CALL.function }],
  });
});

test("a thousand connections at once are all answered, after the latency", async () => {
  const server = await serve({ latency: { least: 20, most: 60 } });
  const body = JSON.stringify({ model: "scripted-agent", messages: [OPENING], tools: TOOLS });
  const ask = async () => {
    const socket = connect(server.port, "127.0.0.1");
    socket.write(
      `POST /v1/chat/completions HTTP/1.1\r\nHost: mock\r\nConnection: close\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    let text = "";
    socket.setEncoding("utf8").on("data", (chunk: string) => {
      text += chunk;
    });
    await once(socket, "close");
    return text.slice(0, 15);
  };
  const answers = await Promise.all(Array.from({ length: 1000 }, ask));
  expect(new Set(answers)).toEqual(new Set(["HTTP/1.1 200 OK"]));
  expect(server.requests()).toMatchObject({ asked: 1000, replied: 1000 });
});

test("a port that is taken is a usage error", async () => {
  const { port } = await serve();
  await expect(serve({ port })).rejects.toThrow("cannot listen");
});
