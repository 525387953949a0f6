import { describe, expect, test } from "vitest";
import {
  type ChatMessage,
  type ModelRequest,
  parseJson,
  type ReferencePlan,
  type RequestOrigin,
  type ToolSpec,
  UsageError,
} from "../../core/index.ts";
import { createScriptedClient } from "./clients.ts";
import { performRefusal, REFUSAL_FAILURES } from "./refusal.ts";
import { parseScriptedName, type Script } from "./script.ts";

const plan: ReferencePlan = [
  {
    think: "Ask for the card.",
    say: "Your card number?",
  },
  {
    user: "It is 12.",
    steps: [
      { think: "Look it up.", text: "One moment.", calls: [{ name: "find_loan", arguments: { card: 12 } }] },
      { calls: [{ name: "renew_loan", arguments: { loan_id: "{{find_loan.loan_id}}" } }] },
    ],
    say: "Renewed until {{renew_loan.due}}.",
  },
  { user: "Great. ###STOP###" },
];
const script: Script = { plan, wireName: (name) => `lib__${name}`, planName: (name) => name.replace("lib__", "") };
const never = new AbortController().signal;

function ask(name: string, messages: ChatMessage[], asking: Asking = {}) {
  return createScriptedClient(name, () => script).complete(requestOf(messages, asking), never);
}

type Asking = Partial<RequestOrigin> & Partial<Pick<ModelRequest, "toolChoice" | "tools">>;

function requestOf(messages: ChatMessage[], { toolChoice = "auto", tools = [], ...more }: Asking): ModelRequest {
  const origin = { dataset: "d", queryId: "q", rollout: 0, seed: 7, mode: "positive", party: "agent", position: 0 };
  return { system: "", messages, tools, toolChoice, origin: { ...origin, ...more } as RequestOrigin };
}

const user = (content: string): ChatMessage => ({ role: "user", content });
const assistant = (content: string): ChatMessage => ({ role: "assistant", content });
const result = (name: string, content: string, callId = "c1"): ChatMessage => ({
  role: "tool",
  callId,
  name,
  content,
  isError: false,
});
const asked = [user("Renew my book."), assistant("Your card number?"), user("It is 12.")];
const found = [...asked, assistant("One moment."), result("lib__find_loan", '{"loan_id": "L7"}')];

test("the agent plays its turns and steps from the request alone, wherever it starts", async () => {
  expect(await ask("scripted/agent", asked.slice(0, 1))).toMatchObject({
    content: "Your card number?",
    reasoning: "Ask for the card.",
    toolCalls: [],
    finish: "stop",
  });
  expect(await ask("scripted/agent", asked)).toMatchObject({
    content: "One moment.",
    reasoning: "Look it up.",
    toolCalls: [{ name: "lib__find_loan", arguments: '{"card":12}' }],
    finish: "tool-calls",
  });
});

test("references are filled from the results in the request", async () => {
  const renewing = await ask("scripted/agent", found);
  expect(renewing.toolCalls).toMatchObject([{ name: "lib__renew_loan", arguments: '{"loan_id":"L7"}' }]);
  const renewed = [...found, assistant(""), result("lib__renew_loan", '{"due": "March 3"}', "c2")];
  expect((await ask("scripted/agent", renewed)).content).toBe("Renewed until March 3.");
});

test("where a call before went wrong, no reference is left in what the agent says or sends", async () => {
  const lost = [...asked, assistant("One moment."), result("lib__find_loan", '{"error": "no"}')];
  const renewing = await ask("scripted/agent", lost);
  expect(renewing.toolCalls).toMatchObject([{ arguments: '{"loan_id":"unknown"}' }]);
  const after = [...lost, assistant(""), result("lib__renew_loan", '{"error": "no"}', "c2")];
  expect((await ask("scripted/agent", after)).content).toMatch(/^I'm sorry/);
});

test("the results of slips are no source for references", async () => {
  const slipped = [...found, assistant(""), result("lib__find_loan", '{"loan_id": "WRONG"}', "call_1_1_0x")];
  const { content, toolCalls } = await ask("scripted/agent", slipped.slice(0, -2));
  expect(toolCalls[0]?.arguments).toBe('{"loan_id":"L7"}');
  expect(content).toBe("");
  expect((await ask("scripted/agent", slipped, { toolChoice: "none" })).content).not.toContain("WRONG");
});

test("malformed arguments are cut after they were filled", async () => {
  for (let seed = 0; seed < 200; seed++) {
    const reply = await ask("scripted/agent?skill=0", found, { seed });
    const cut = reply.toolCalls.filter((call) => parseJson(call.arguments) === undefined);
    for (const call of reply.toolCalls) expect(call.arguments).not.toContain("{{");
    if (cut.length > 0) return expect(cut[0]?.arguments).toBe('{"loan_id":"L7');
  }
  throw new Error("no seed gave malformed arguments");
});

test("with tools off the agent answers instead of calling", async () => {
  const reply = await ask("scripted/agent", found, { toolChoice: "none" });
  expect(reply).toMatchObject({ toolCalls: [], finish: "stop" });
});

test("the user says the plan's lines in turn, and ends where the plan has none left", async () => {
  const as = (messages: ChatMessage[]) => ask("scripted/user", messages, { party: "user" });
  const first = [user("Hello!"), assistant("Renew my book."), user("Your card number?")];
  expect((await as(first)).content).toBe("It is 12.");
  const second = [...first, assistant("It is 12."), user("Renewed.")];
  expect((await as(second)).content).toBe("Great. ###STOP###");
  expect((await as([...second, assistant("Great."), user("Yes?")])).content).toContain("###STOP###");
});

describe("in negative modes", () => {
  const negative = { mode: "wrong_tool" } as const;
  const wrongTool: ToolSpec = {
    name: "order_pizza",
    description: "",
    parameters: {
      properties: { size: { enum: ["small", "large"] }, count: { type: "integer" }, note: { type: "string" } },
      required: ["size", "count", "street"],
    },
    readOnly: false,
  };
  const asUser = (messages: ChatMessage[], seed: number) =>
    ask("scripted/user", messages, { ...negative, seed, party: "user" });
  /** A whole dialogue of the two scripts, as the loop would lead it, up to the end token. */
  async function talk(agent: string, seed: number, tools: ToolSpec[] = []) {
    const messages: ChatMessage[] = [user("Renew my book.")];
    const flipped = () =>
      messages.flatMap((message) =>
        message.role === "tool" || message.content === ""
          ? []
          : [message.role === "user" ? assistant(message.content) : user(message.content)],
      );
    for (;;) {
      const reply = await ask(agent, messages, { ...negative, seed, tools });
      messages.push({ role: "assistant", content: reply.content, toolCalls: reply.toolCalls });
      for (const { name, id } of reply.toolCalls)
        messages.push({ ...result(name, "not available", id), isError: true } as ChatMessage);
      if (reply.toolCalls.length > 0) continue;
      const { content } = await asUser(flipped(), seed);
      messages.push(user(content));
      if (content.includes("###") || messages.length > 20) return messages;
    }
  }
  const seeds = Array.from({ length: 300 }, (_, seed) => seed);
  const said = (messages: ChatMessage[], role: "user" | "assistant") =>
    messages.filter((message) => message.role === role).map(({ content }) => content);

  test("a flawless agent refuses in many ways, some after a question, and never calls or claims anything", async () => {
    const talks = await Promise.all(seeds.map((seed) => talk("scripted/agent", seed, [wrongTool])));
    expect(new Set(talks.map((messages) => said(messages, "assistant").at(-1))).size).toBeGreaterThanOrEqual(8);
    expect(new Set(talks.map((messages) => said(messages, "assistant").length))).toEqual(new Set([1, 2]));
    for (const messages of talks) {
      const lines = said(messages, "assistant");
      if (lines.length === 2) expect(lines[0]).toMatch(/\?$/);
      expect(lines.at(-1)).toMatch(/can't|isn't possible|unable|don't have|beyond/);
      expect(messages.some((message) => message.role === "assistant" && message.toolCalls?.length)).toBe(false);
    }
  });

  test("the user ends by what was said: handed over, refused, or content", async () => {
    const talks = await Promise.all(seeds.map((seed) => talk("scripted/agent", seed)));
    const endings = new Set<string>();
    for (const messages of talks) {
      const [ending = ""] = said(messages, "user").slice(-1);
      const isHandedOver = /handing you over|passing you on/.test(said(messages, "assistant").at(-1) ?? "");
      expect(ending.includes("###TRANSFER###")).toBe(isHandedOver);
      endings.add(ending);
    }
    expect(endings.size).toBe(7);
    expect([...endings].filter((line) => line.includes("###OUT-OF-SCOPE###")).length).toBe(3);
    expect([...endings].filter((line) => line.includes("###STOP###")).length).toBe(1);
  });

  test("a seed plays the same dialogue every time", async () => {
    for (const seed of [1, 2, 3])
      expect(await talk("scripted/agent?skill=0.5", seed)).toEqual(await talk("scripted/agent?skill=0.5", seed));
  });

  test("a share of 1 - skill claims success, makes up data, or calls a tool that does not fit", async () => {
    const tools = [wrongTool];
    const failures = seeds.map((seed) => performRefusal({ skill: 0.7, seed, tools }).failure);
    const failed = failures.filter((failure) => failure !== undefined);
    expect(failed.length / seeds.length).toBeGreaterThan(0.22);
    expect(failed.length / seeds.length).toBeLessThan(0.38);
    expect(new Set(failed)).toEqual(new Set(REFUSAL_FAILURES));
    expect(seeds.some((seed) => performRefusal({ skill: 1, seed, tools }).failure)).toBe(false);
    for (const seed of seeds) {
      const { failure } = performRefusal({ skill: 0, seed, tools });
      const messages = await talk("scripted/agent?skill=0", seed, tools);
      const calls = messages.flatMap((message) => (message.role === "assistant" ? (message.toolCalls ?? []) : []));
      const [ending] = said(messages, "user").slice(-1);
      if (failure === "calls_unfit_tool") {
        expect(calls).toMatchObject([{ name: "order_pizza" }]);
        expect(parseJson(calls[0]?.arguments ?? "")).toEqual({ size: "small", count: 1, street: "unknown" });
      } else {
        expect(calls).toEqual([]);
        expect(said(messages, "assistant")[0]).not.toMatch(/can't|sorry|unable/);
        expect(ending).toMatch(/###STOP###/);
      }
    }
  });

  test("with no tool to call, the other failures are left", () => {
    const failures = seeds.map((seed) => performRefusal({ skill: 0, seed, tools: [] }).failure);
    expect(new Set(failures)).toEqual(new Set(["claims_success", "makes_up_data"]));
  });

  test("a refusal stays a refusal when the user insists", async () => {
    const insisting = [...asked, assistant("No."), user("Please!"), assistant("No."), user("Please!!")];
    const [first, second] = [
      await ask("scripted/agent", asked, negative),
      await ask("scripted/agent", insisting, negative),
    ];
    expect(first.content).not.toBe("");
    expect(second.content).toBe(first.content);
  });

  test("a user who speaks first says the plan's opening; to any other agent it answers one question and gives up", async () => {
    const opened: Script = { ...script, plan: [{ user: "Renew my book." }] };
    const first = requestOf([user("Hello!")], { ...negative, party: "user" });
    const client = createScriptedClient("scripted/user", () => opened);
    expect((await client.complete(first, never)).content).toBe("Renew my book.");
    const question = [user("Hello!"), assistant("Renew my book."), user("Which one?")];
    const { content } = await asUser(question, 1);
    expect(content).toMatch(/\?$/);
    expect((await asUser([...question, assistant(content), user("Which card?")], 1)).content).toMatch(/###/);
    expect((await asUser([...question.slice(0, 2), user("No.")], 1)).content).toMatch(/###(OUT-OF-SCOPE|STOP)###/);
  });
});

test("the judge waits while the agent's last message asks something", async () => {
  const transcript = (last: string) => [user(`Agent: Hello? How are you?\n\nUser: Renew it.\n\nAgent: ${last}`)];
  expect(parseJson((await ask("scripted/judge", transcript("Which one?"))).content)).toMatchObject({ stop: false });
  expect(parseJson((await ask("scripted/judge", transcript("Renewed."))).content)).toMatchObject({ stop: true });
});

test("a query without a plan ends its own rollout only", async () => {
  const client = createScriptedClient("scripted/agent", () => undefined);
  const request = requestOf(asked, { queryId: "q9" });
  await expect(client.complete(request, never)).rejects.toMatchObject({
    name: "RolloutError",
    message: expect.stringContaining('"q9"'),
  });
});

test("the skill stands in the name, from 0 to 1", () => {
  expect(parseScriptedName("scripted/agent")).toEqual({ role: "agent", skill: 1 });
  expect(parseScriptedName("scripted/agent?skill=0.7")).toEqual({ role: "agent", skill: 0.7 });
  expect(parseScriptedName("scripted/agent?skill=0")).toEqual({ role: "agent", skill: 0 });
  for (const name of [
    "scripted/agent?skill=",
    "scripted/agent?skill=1.1",
    "scripted/agent?skill=high",
    "scripted/agent?skil=1",
    "scripted/user?skill=0.5",
    "scripted/oracle",
  ]) {
    expect(() => parseScriptedName(name), name).toThrow(UsageError);
  }
});
