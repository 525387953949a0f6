import { expect, onTestFinished, test } from "vitest";
import { serveAnthropic } from "../../../test/support/anthropic-server.ts";
import {
  completion,
  failing,
  type ModelAnswer,
  modelAt,
  type Received,
  serveModel,
} from "../../../test/support/model-server.ts";
import { isObject, type JsonObject, systemClock } from "../../core/index.ts";
import type { ReasoningHabits, ResolvedModel } from "../resolved.ts";
import { probeModel } from "./probe-model.ts";

const KEY = "sk-planted-0123456789";
const usage = { usage: { prompt_tokens: 20, completion_tokens: 5 } };

type Oddities = {
  usage?: JsonObject;
  /** of the nth call of one reply */
  idOf?: (index: number) => string | undefined;
  callsAtMost?: number;
  asText?: boolean;
  asObject?: boolean;
  neverCalls?: boolean;
  /** fields of a reply to a request for thinking */
  thought?: JsonObject;
  /** an error for requests it rejects */
  refuse?: (body: JsonObject) => string | undefined;
};

let served = 0;

/** A server that answers, calls get_weather for each city that is asked for, and takes the results. */
function endpoint(odd: Oddities = {}): ModelAnswer {
  return (response, { body }: Received) => {
    const refusal = odd.refuse?.(body);
    if (refusal) return failing(400, { error: { message: `${refusal} ${KEY}` } })(response);
    const messages = body.messages as { role: string; content: string }[];
    const last = messages.at(-1);
    const cities = ["Paris", "Oslo", "France"].filter((city) => last?.content.includes(city));
    const hasTools = body.tools || messages[0]?.content.includes("<tools>");
    const wanted =
      hasTools && !last?.content.startsWith("<tool_response>") && last?.role === "user" && !odd.neverCalls
        ? cities.slice(0, odd.callsAtMost ?? 9)
        : [];
    const calls = wanted.map((city, index) => ({
      id: odd.idOf ? odd.idOf(index) : `call_${served++}`,
      type: "function",
      function: { name: "get_weather", arguments: odd.asObject ? { city } : JSON.stringify({ city }) },
    }));
    const text = wanted.map((city) => `<tool_call>{"name":"get_weather","arguments":{"city":"${city}"}}</tool_call>`);
    const thinks = last?.content.startsWith("Think first") ? (odd.thought ?? {}) : {};
    const said =
      calls.length === 0
        ? { content: "ready" }
        : odd.asText
          ? { content: text.join("") }
          : { content: "", tool_calls: calls };
    const { content: inline = "", ...fields } = thinks;
    const message = { ...said, ...fields, content: `${String(inline)}${said.content}` } as JsonObject;
    response.end(JSON.stringify(completion(message, odd.usage ?? usage)));
  };
}

async function examine(odd: Oddities, more: Partial<ResolvedModel> = {}, role: "agent" | "user" = "agent") {
  const server = await serveModel(endpoint(odd));
  onTestFinished(() => server.close());
  const deps = { env: {}, clock: systemClock, signal: new AbortController().signal };
  const [examination] = await probeModel(
    modelAt(server.baseUrl, { apiKey: KEY, keyName: "MY_KEY", ...more }),
    role,
    deps,
  );
  const findings = examination?.findings ?? [];
  expect(JSON.stringify(examination)).not.toContain(KEY);
  const told = (level: string) => findings.filter((one) => one.level === level).map(({ text }) => text);
  return {
    findings,
    server,
    ok: told("ok"),
    odd: told("odd"),
    bad: told("bad"),
    fixes: findings.flatMap(({ fix }) => fix ?? []),
  };
}

const habits = (more: Partial<ReasoningHabits>) => ({
  reasoning: { style: "thinking", sendBack: false, field: "reasoning_content", ...more } as ReasoningHabits,
});

test("an endpoint that does everything right is told so, point by point", async () => {
  const { ok, odd, bad } = await examine({ thought: { reasoning_content: "Hm." } });
  expect(ok).toEqual([
    "answers",
    "calls a tool",
    "calls several tools in one reply",
    "takes tool results and goes on",
    "reasons, and the reasoning arrives as reasoning_content",
    "the dialogue continues with the reasoning not sent back",
  ]);
  expect([...odd, ...bad]).toEqual([]);
});

test("a user simulator is asked for answers and reasoning only", async () => {
  const { ok, server } = await examine({}, {}, "user");
  expect(ok).toEqual(["answers", 'shows no reasoning (it is told to think in the style "none")']);
  expect(server.received.every(({ body }) => body.tools === undefined)).toBe(true);
});

test("tool calls written as text are recognised, and the line that mends it is given", async () => {
  const { odd, bad, fixes } = await examine({ asText: true });
  expect(bad).toEqual([]);
  expect(odd[0]).toMatch(/writes its tool calls as text/);
  expect(fixes).toContainEqual({ where: "agent", yaml: "recover_text_calls: true" });
});

test.each<[string, Oddities, RegExp]>([
  ["missing ids", { idOf: () => undefined }, /gives tool calls no ids/],
  ["repeated ids", { idOf: () => "call_0" }, /repeats the ids/],
  ["one call at a time", { callsAtMost: 1 }, /calls one tool at a time/],
  ["arguments as objects", { asObject: true }, /arguments as an object/],
  ["no usage", { usage: {} }, /counts no tokens/],
  ["inline reasoning", { thought: { content: "<think>Hm.</think>" } }, /writes its reasoning into the text/],
])("%s are odd but usable", async (_, oddity, expected) => {
  const { odd, bad } = await examine(oddity);
  expect(bad).toEqual([]);
  expect(odd).toEqual([expect.stringMatching(expected)]);
});

test("a model that never calls tools, or refuses them, is of no use as an agent", async () => {
  expect((await examine({ neverCalls: true })).bad).toEqual([expect.stringMatching(/does not call a tool/)]);
  const refuse = (body: JsonObject) => (body.tools ? "tools are not supported" : undefined);
  expect((await examine({ refuse })).bad).toEqual([
    expect.stringMatching(/refuses a request with tools.*not supported/),
  ]);
});

test("a model without function calling is examined in its text format, and a native one is told of it", async () => {
  const refuse = (body: JsonObject) => (body.tools ? "tools are not supported" : undefined);
  const { ok, odd, bad } = await examine({ refuse, asText: true }, { toolFormat: "hermes" });
  expect([...odd, ...bad]).toEqual([]);
  expect(ok.slice(0, 4)).toEqual([
    "answers",
    "calls a tool",
    "calls several tools in one reply",
    "takes tool results and goes on",
  ]);
  const silent = await examine({ neverCalls: true }, { toolFormat: "react" });
  expect(silent.bad).toEqual(["writes no call in the format react (tool_format) when asked to"]);
  for (const oddity of [{ refuse }, { neverCalls: true }])
    expect((await examine(oddity)).findings.at(-1)?.hint).toContain("tool_format: hermes");
});

test("an endpoint that refuses every call is told of once, with its own words and the key by name", async () => {
  const { findings } = await examine({ refuse: () => "no such model" });
  expect(findings).toEqual([{ level: "bad", text: expect.stringMatching(/\(400\).*no such model \[redacted\]/) }]);
});

const holds = (body: JsonObject, field: string) =>
  (body.messages as JsonObject[]).some((message) => isObject(message) && message[field] !== undefined);

test("reasoning that is refused on its way back, or missed, is mended by send_back", async () => {
  const thought = { reasoning_content: "Hm." };
  const refused = await examine(
    { thought, refuse: (body) => (holds(body, "reasoning_content") ? "unknown field" : undefined) },
    habits({ sendBack: true }),
  );
  expect(refused.fixes).toEqual([{ where: "models", yaml: "reasoning: {send_back: false}" }]);
  const missed = await examine({
    thought,
    refuse: (body) => {
      const messages = body.messages as JsonObject[];
      const thinks = messages[1]?.role === "user" && String(messages[1].content).startsWith("Think");
      return thinks && messages.length > 2 && !holds(body, "reasoning_content") ? "reasoning is missing" : undefined;
    },
  });
  expect(missed.fixes).toEqual([{ where: "models", yaml: "reasoning: {send_back: true}" }]);
});

test("a thinking switch that is refused is replaced by one that works, or by none", async () => {
  const thought = { reasoning_content: "Hm." };
  const other = await examine(
    { thought, refuse: (body) => (body.thinking || body.chat_template_kwargs ? "unknown parameter" : undefined) },
    habits({ style: "thinking" }),
  );
  expect(other.fixes).toEqual([{ where: "models", yaml: "reasoning: {style: flag}" }]);
  const none = await examine(
    { refuse: (body) => (body.thinking ? "unknown parameter" : undefined) },
    habits({ style: "thinking" }),
  );
  expect(none.fixes).toEqual([{ where: "models", yaml: "reasoning: {style: none}" }]);
});

test("another dialect is examined in the same way, signatures on their way back included", async () => {
  const use = (id: string, city: string) => ({ type: "tool_use", id, name: "get_weather", input: { city } });
  const text = { content: [{ type: "text", text: "ready" }] };
  const thought = { type: "thinking", thinking: "Hm.", signature: "sealed" };
  const thrice = <T>(answer: (sample: number) => T) => [0, 1, 2].map(answer);
  const server = await serveAnthropic(
    ...thrice(() => text),
    ...thrice((sample) => ({ content: [use(`a${sample}`, "Paris")], stop_reason: "tool_use" })),
    ...thrice((sample) => ({
      content: [use(`b${sample}`, "Paris"), use(`c${sample}`, "Oslo")],
      stop_reason: "tool_use",
    })),
    ...thrice(() => text),
    ...thrice((sample) => ({ content: [thought, use(`d${sample}`, "Paris")], stop_reason: "tool_use" })),
    text,
  );
  onTestFinished(() => server.close());
  const reasoning = { style: "anthropic", sendBack: true, field: "thinking" } as const;
  const model = modelAt(server.baseUrl, { dialect: "anthropic", apiKey: KEY, reasoning });
  const deps = { env: {}, clock: systemClock, signal: new AbortController().signal };
  const [examination] = await probeModel(model, "agent", deps);
  expect(examination?.findings.map(({ level, text: line }) => ({ level, text: line }))).toEqual(
    [
      ...["answers", "calls a tool", "calls several tools in one reply", "takes tool results and goes on"],
      "reasons, and the reasoning arrives in parts of its own",
      "the dialogue continues with the reasoning sent back",
    ].map((line) => ({ level: "ok", text: line })),
  );
  expect(server.received.at(-1)?.text).toContain('"signature":"sealed"');
});
