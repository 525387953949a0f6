import { expect, test } from "vitest";
import {
  type ChatMessage,
  type ModelRequest,
  parseJson,
  type ReferencePlan,
  type RequestOrigin,
  UsageError,
} from "../../core/index.ts";
import { createScriptedClient } from "./clients.ts";
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

function ask(
  name: string,
  messages: ChatMessage[],
  { toolChoice = "auto", ...origin }: Partial<RequestOrigin> & Partial<Pick<ModelRequest, "toolChoice">> = {},
) {
  return createScriptedClient(name, () => script).complete(requestOf(messages, toolChoice, origin), never);
}

function requestOf(messages: ChatMessage[], toolChoice: "auto" | "none", more: Partial<RequestOrigin>): ModelRequest {
  const origin = { dataset: "d", queryId: "q", rollout: 0, seed: 7, mode: "positive", party: "agent", position: 0 };
  return { system: "", messages, tools: [], toolChoice, origin: { ...origin, ...more } as RequestOrigin };
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

test("without the right tools the agent says so, and the user gives up", async () => {
  const agent = await ask("scripted/agent", asked, { mode: "no_tool" });
  expect(agent).toMatchObject({ toolCalls: [], content: expect.stringContaining("none of the tools") });
  const gone = await ask("scripted/user", asked, { mode: "no_tool", party: "user" });
  expect(gone.content).toContain("###OUT-OF-SCOPE###");
});

test("the judge waits while the agent's last message asks something", async () => {
  const transcript = (last: string) => [user(`Agent: Hello? How are you?\n\nUser: Renew it.\n\nAgent: ${last}`)];
  expect(parseJson((await ask("scripted/judge", transcript("Which one?"))).content)).toMatchObject({ stop: false });
  expect(parseJson((await ask("scripted/judge", transcript("Renewed."))).content)).toMatchObject({ stop: true });
});

test("a query without a plan ends its own rollout only", async () => {
  const client = createScriptedClient("scripted/agent", () => undefined);
  const request = requestOf(asked, "auto", { queryId: "q9" });
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
