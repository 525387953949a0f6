// Tasks for two over MCP servers: setups behind both parties' backs, tools of the user's own, worlds of one task, and
// dialogues that go on from somewhere; what the server shows of its state decides.
import { describe, expect, test } from "vitest";
import type { Json, JsonObject, Trajectory } from "../src/core/index.ts";
import { type WorkFolder, workFolder } from "./support/cli.ts";
import { evaluate, expectDone, serveOverHttp } from "./support/mcp/depot.ts";
import { lazyPlan, PHONE_CHILD, PHONE_SERVER, phonePlan, phoneTask, writePhoneTasks } from "./support/mcp/phone.ts";
import { havePython } from "./support/python/support.ts";
import { lines } from "./support/shop-dataset.ts";

const PYTHON = await havePython();
const RUN = ["run", "-c", "run.yml", "--quiet"];
const IDS = ["p1", "p2", "p3", "p4"];
const place = (name: string) => `\${${name}}`;

async function play(tasks: JsonObject[], servers: object, config?: object): Promise<WorkFolder> {
  const work = workFolder();
  writePhoneTasks(work, tasks, servers, config);
  expectDone(await work.run(RUN));
  return work;
}

const records = (work: WorkFolder): Trajectory[] => work.records("out/trajectories/phones.jsonl");
const byId = (work: WorkFolder) => work.canonical("out/trajectories/phones.jsonl");

/** The names that each party was offered, as the prompts have them. */
function offered(work: WorkFolder): { agent: string[]; user: string[] } {
  const [record] = records(work) as [Trajectory];
  const lists = work.records<{ hash: string; content: { function: { name: string } }[] }>("out/prompts.jsonl");
  const named = (hash: string | undefined) =>
    lists.find((list) => list.hash === hash)?.content.map((tool) => tool.function.name) ?? [];
  return { agent: named(record.metadata.tools_hash), user: named(record.metadata.user_tools_hash) };
}

const names = { carrier: "Carrier.", phone: "Phone." };
const two = {
  Carrier: { ...PHONE_CHILD, args: [PHONE_SERVER, "--part", "carrier"], hidden_tools: [] },
  Phone: { ...PHONE_CHILD, args: [PHONE_SERVER, "--part", "phone"] },
};
const ofTwo: JsonObject = {
  user_tools: ["Phone.*"],
  setup: [{ name: "Phone.spoil", arguments: { what: "airplane" } }],
};

type Layout = {
  servers: (env?: JsonObject) => Promise<object>;
  plan: JsonObject[];
  more: JsonObject;
  agent: string[];
  user: string[];
};
const one = {
  plan: phonePlan(),
  more: {},
  agent: ["get_line", "enable_roaming"],
  user: ["look_at_screen", "set_airplane_mode"],
};
const LAYOUTS: [string, Layout][] = [
  ["one server", { ...one, servers: async (env = {}) => ({ phone: { ...PHONE_CHILD, env } }) }],
  [
    "one server's HTTP sessions",
    { ...one, servers: async (env) => ({ phone: { ...PHONE_CHILD, ...(await serveOverHttp(PHONE_SERVER, env)) } }) },
  ],
  [
    "two servers",
    {
      servers: async (env = {}) => ({ Carrier: { ...two.Carrier, env }, Phone: { ...two.Phone, env } }),
      plan: phonePlan("L1", names),
      more: ofTwo,
      agent: ["c__get_line", "c__enable_roaming"],
      user: ["p__look_at_screen", "p__set_airplane_mode"],
    },
  ],
];

describe.skipIf(!PYTHON)("a task for two over MCP", () => {
  test.each(LAYOUTS)(
    "is solved by both parties on one state, and not by a user who only says so (%s)",
    async (_, layout) => {
      const { servers, plan, more, agent, user } = layout;
      const tasks = IDS.map((id) => phoneTask(id, more, plan));
      const config = await servers();
      const work = await play(tasks, config);
      expect(offered(work)).toEqual({ agent, user });
      for (const { other_calls, messages } of records(work)) {
        expect(other_calls?.map(({ party, name }) => [party, name.replace("p__", "")])).toEqual([
          ["setup", expect.stringMatching(/spoil$/)],
          ["user", "set_airplane_mode"],
          ["user", "look_at_screen"],
        ]);
        expect(JSON.stringify(messages)).not.toMatch(/spoil|set_airplane_mode|dump/);
      }
      if (!("Carrier" in config)) expect(records(work)[0]?.other_calls?.at(-1)?.content).toContain('"connected": true');
      expect((await evaluate(work)).report).toMatchObject({
        outcomes: { passed: IDS.length },
        checks: {
          state: { passed: IDS.length },
          user_actions: { passed: IDS.length },
          actions: { passed: IDS.length },
        },
      });
      expect((await work.run(["replay", "out"])).stdout).toContain(`${IDS.length * 4} calls made again: all agree`);
      const lazy = await play(
        IDS.map((id) => phoneTask(id, more, lazyPlan(plan))),
        config,
      );
      lazy.write("tasks.jsonl", lines(tasks));
      expect((await evaluate(lazy)).report).toMatchObject({
        outcomes: { passed: 0, failed: IDS.length },
        checks: {
          state: { failed: IDS.length },
          user_actions: { failed: IDS.length },
          actions: { passed: IDS.length },
        },
      });
    },
  );

  test.each(LAYOUTS)("goes on in the same world after a kill (%s)", async (_, { servers, plan, more }) => {
    const tasks = IDS.map((id) => phoneTask(id, more, plan));
    const work = workFolder();
    const config = await servers({ DELAY: "0.3" });
    writePhoneTasks(work, tasks, config, { max_workers: 2 });
    const { child, finished } = work.start(RUN);
    const journaled = () => (work.has("out/journal.jsonl") ? work.read("out/journal.jsonl") : "");
    while (!/"by":"user"/.test(journaled())) await new Promise((resolve) => setTimeout(resolve, 10));
    child.kill("SIGKILL");
    await finished;
    expectDone(await work.run(["resume", "out", "--quiet"]));
    const whole = await play(tasks, config);
    expect(byId(work)).toEqual(byId(whole));
    expect((await evaluate(work)).report.outcomes).toMatchObject({ passed: IDS.length, failed: 0 });
  });

  test("the state tool is nobody's: neither party can call it, and it cannot be given to the user", async () => {
    const plan: JsonObject[] = [
      { steps: [{ calls: [{ name: "dump", arguments: {} }] }], say: "Hm." },
      { user_calls: [{ name: "dump", arguments: {} }], user: "Thanks. ###STOP###" },
    ];
    const work = await play([phoneTask("p1", {}, plan)], { phone: PHONE_CHILD });
    const [{ messages, other_calls }] = records(work) as [Trajectory];
    expect(messages[2]?.content).toMatch(/no tool named .*dump.*Available tools: get_line, enable_roaming\./s);
    expect(other_calls?.[1]).toMatchObject({
      party: "user",
      is_error: true,
      content: expect.not.stringContaining("lines"),
    });
    for (const user_tools of [["dump"], ["phone.dump"], ["look_at_screen", "spoil"]]) {
      const other = workFolder();
      writePhoneTasks(other, [phoneTask("p1", { user_tools })], { phone: PHONE_CHILD });
      const refused = await other.run(RUN);
      expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining("which is not there")]);
      expect(other.has("out")).toBe(false);
    }
  });
});

describe.skipIf(!PYTHON)("a setup on MCP servers", () => {
  test("calls hidden and unlisted tools; what they did is where the task starts", async () => {
    const age = { name: "age", arguments: { years: 3 } };
    const spoil = { name: "spoil", arguments: { what: "airplane" } };
    const work = await play([phoneTask("p1", { setup: [spoil, age] })], { phone: PHONE_CHILD });
    const [{ other_calls, metadata }] = records(work) as [Trajectory];
    expect(other_calls?.slice(0, 2)).toEqual([
      ...[expect.objectContaining({ party: "setup", after: 0, name: "spoil", is_error: false })],
      expect.objectContaining({ party: "setup", after: 0, name: "age", content: expect.stringContaining('"age": 3') }),
    ]);
    const other = await play([phoneTask("p1", { setup: [age, spoil] })], { phone: PHONE_CHILD });
    expect(metadata.final_state_hash).toBe(records(other)[0]?.metadata.final_state_hash);
    expect((await evaluate(work)).report.outcomes).toMatchObject({ passed: 1 });
  });

  test("finds an only server's tools by its name, too, and keeps numbers as they were written", async () => {
    const work = workFolder();
    const setup: Json = [
      { name: "phone.spoil", arguments: { what: "airplane" } },
      { name: "phone.age", arguments: { years: "2.0" } },
    ];
    writePhoneTasks(work, [phoneTask("p1", { setup })], { phone: PHONE_CHILD });
    work.write("tasks.jsonl", work.read("tasks.jsonl").replace('"2.0"', "2.0"));
    expectDone(await work.run(RUN));
    expect(records(work)[0]?.other_calls?.[1]).toMatchObject({
      arguments: '{"years":2.0}',
      content: expect.stringContaining('"age": 2.0'),
    });
  });

  test("finds unlisted tools of several servers by the servers' names", async () => {
    const setup: Json = [
      { name: "Phone.age", arguments: { years: 9 } },
      { name: "Phone.spoil", arguments: { what: "airplane" } },
    ];
    const work = await play([phoneTask("p1", { ...ofTwo, setup }, phonePlan("L1", names))], two);
    expect(records(work)[0]?.other_calls?.[0]?.content).toContain('"age": 9');
    expect((await evaluate(work)).report.outcomes).toMatchObject({ passed: 1 });
  });

  test("of a dataset, with its user tools, is known to the check", async () => {
    const { setup, user_tools, ...bare } = phoneTask("p1");
    const datasets = { phones: { path: "tasks.jsonl", mcpServers: { phone: PHONE_CHILD }, setup, user_tools } };
    const work = await play([bare], {}, { datasets });
    expect(records(work)[0]?.other_calls).toHaveLength(3);
    expect((await evaluate(work)).report.outcomes).toMatchObject({ passed: 1 });
    expect(await work.run(["check", "run.yml"])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("0 errors"),
    });
  });

  test("that fails ends its rollout as infrastructure, and no other", async () => {
    const broken = phoneTask("p2", { setup: [{ name: "melt", arguments: {} }] });
    const work = workFolder();
    writePhoneTasks(work, [phoneTask("p1"), broken], { phone: PHONE_CHILD });
    await work.run(RUN);
    expect(records(work).map(({ id }) => id)).toEqual(["p1"]);
    expect(work.read("out/failures.jsonl")).toContain("setup: melt answered with an error: no melt here");
  });

  test.each([
    ["a query's", "shared", true],
    ["the dataset's", "shared", false],
    ["a query's, where no sessions are given", "stateless", true],
  ])("is refused before the run where rollouts share the server: %s", async (_, kind, inQuery) => {
    const { state_tool: _tool, ...unseen } = PHONE_CHILD;
    const server =
      kind === "shared"
        ? { ...unseen, isolation: "shared" }
        : { ...unseen, ...(await serveOverHttp(PHONE_SERVER, {}, "--stateless")) };
    const { setup, ...bare } = phoneTask("p2");
    const work = workFolder();
    writePhoneTasks(
      work,
      [inQuery ? phoneTask("p1") : bare, bare],
      { phone: server },
      inQuery
        ? {}
        : {
            datasets: { phones: { path: "tasks.jsonl", mcpServers: { phone: server }, setup } },
          },
    );
    const refused = await work.run(RUN);
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringMatching(/tasks\.jsonl:1: .*setup.*share/)]);
    expect(work.has("out")).toBe(false);
    const checked = await work.run(["check", "run.yml"]);
    expect([checked.code, checked.stdout]).toEqual([2, expect.stringMatching(/tasks\.jsonl:1: .*setup.*share/)]);
  });
});

test.skipIf(!PYTHON)("a state that all rollouts share is refused as one rollout's, before the run", async () => {
  const { setup: _, ...task } = phoneTask("p1");
  const stateless = await serveOverHttp(PHONE_SERVER, {}, "--stateless");
  const work = workFolder();
  writePhoneTasks(work, [task], { phone: { ...PHONE_CHILD, ...stateless } });
  const sentence = 'MCP server "phone" gives no session ids, so state_tool does not go with it';
  expect(await work.run(RUN)).toMatchObject({ code: 2, stderr: expect.stringContaining(sentence) });
  expect(work.has("out")).toBe(false);
});

describe.skipIf(!PYTHON)("a world of one task", () => {
  const LINES = ["L7", "L8", "L9"];

  test("is where its reference is played, too", async () => {
    const tasks = LINES.map((line) => phoneTask(`t${line}`, { task_info: { line, plan: phonePlan(line) } }));
    const server = { ...PHONE_CHILD, args: [PHONE_SERVER, "--line", place("TASK.line")] };
    const work = await play(tasks, { phone: server }, { rollouts: 2 });
    expect(new Set(records(work).map(({ metadata }) => metadata.final_state_hash)).size).toBe(LINES.length);
    expect((await evaluate(work)).report).toMatchObject({
      outcomes: { passed: 6, failed: 0 },
      checks: { state: { passed: 6 }, user_actions: { passed: 6 } },
    });
    const lazy = tasks.map((task, index) => ({
      ...task,
      task_info: { line: LINES[index], plan: lazyPlan(phonePlan(LINES[index])) },
    }));
    const dropped = await play(lazy as JsonObject[], { phone: server });
    dropped.write("tasks.jsonl", lines(tasks));
    expect((await evaluate(dropped)).report).toMatchObject({ outcomes: { passed: 0, failed: 3 } });
    expect(await work.run(["check", "run.yml"])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("0 errors"),
    });
  });
});

describe.skipIf(!PYTHON)("a dialogue that goes on over MCP", () => {
  const called = (id: string, name: string, args: JsonObject) => ({
    role: "assistant",
    content: null,
    tool_calls: [{ id, type: "function", function: { name, arguments: JSON.stringify(args) } }],
  });
  const opening: JsonObject[] = [
    { role: "user", content: "My line is L1, and I have no service." },
    called("o1", "enable_roaming", { line: "L1" }),
    { role: "tool", tool_call_id: "o1", content: '{"line": "L1", "roaming": true, "plan": "plan of L1"}' },
    { role: "assistant", content: "Roaming is on. Please turn airplane mode off." },
    { role: "user", content: "How?" },
  ];
  const plan = [
    { steps: [{ calls: [{ name: "get_line", arguments: { line: "L1" } }] }], say: "In its settings." },
    ...phonePlan().slice(1),
  ];

  test("starts in the state that its calls left, which is none of its changes", async () => {
    const work = await play([phoneTask("p1", { messages: opening }, plan)], { phone: PHONE_CHILD });
    const [{ messages, metadata, other_calls }] = records(work) as [Trajectory];
    expect(metadata).toMatchObject({ opening_messages: 5, tool_call_count: 1, faults: [] });
    expect(messages[6]?.content).toContain('"roaming": true');
    expect(other_calls?.at(-1)?.content).toContain('"connected": true');
    expect((await evaluate(work)).report).toMatchObject({ outcomes: { passed: 1 }, checks: { state: { passed: 1 } } });
    expect((await work.run(["replay", "out"])).stdout).toContain("all agree");
    work.write("tasks.jsonl", lines([phoneTask("p1", { messages: opening }, lazyPlan(plan))]));
    expect((await evaluate(work)).report.outcomes).toMatchObject({ passed: 0, failed: 1 });
  });

  test("is marked where the server answers differently today", async () => {
    const told = opening.map((message) => (message.role === "tool" ? { ...message, content: "fine" } : message));
    const work = await play([phoneTask("p1", { messages: told }, plan)], { phone: PHONE_CHILD });
    expect(records(work)[0]?.metadata.faults).toMatchObject([{ type: "opening_differs", call_id: "o1" }]);
  });
});
