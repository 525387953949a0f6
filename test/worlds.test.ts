// Worlds that a query makes for itself: a setup behind both parties' backs, tools of the user's own, and dialogues that
// go on from somewhere. In the record, in resumes and replays, in scores and exports.
import { describe, expect, test } from "vitest";
import type { Trajectory } from "../src/core/index.ts";
import { type WorkFolder, workFolder } from "./support/cli.ts";
import { PHONE, PHONE_FILE, phoneQuery, writePhones } from "./support/phone-dataset.ts";
import { lines, SCRIPTED } from "./support/shop-dataset.ts";

const scoresOf = (work: WorkFolder, file: string, id: string) =>
  Object.fromEntries(
    work
      .records<{ id: string; check: string; pass: boolean | null }>(file)
      .filter((score) => score.id === id)
      .map(({ check, pass }) => [check, pass]),
  );

describe("dual control", () => {
  test("the user's calls and the setup's are in the record with their party, and not in what the agent saw", async () => {
    const work = workFolder();
    writePhones(work);
    const run = await work.run([...PHONE, ...SCRIPTED]);
    expect([run.code, run.stderr]).toEqual([0, ""]);
    const [record] = work.records(PHONE_FILE) as [Trajectory];
    expect(record.other_calls).toEqual([
      {
        party: "setup",
        after: 0,
        id: "setup_0",
        name: "p__set_airplane_mode",
        arguments: '{"on":"yes"}',
        content: '{"airplane":"yes"}',
        is_error: false,
      },
      expect.objectContaining({ party: "user", after: 6, name: "p__look_at_screen" }),
      expect.objectContaining({ party: "user", after: 6, name: "p__set_airplane_mode", arguments: '{"on":"no"}' }),
    ]);
    expect(record.messages[6]).toEqual({ role: "user", content: "The screen said on; it is off now." });
    expect(JSON.stringify(record.messages)).not.toContain("set_airplane_mode");
    expect(record.metadata).toMatchObject({ tool_call_count: 2, total_turns: 2, stop_reason: "user_stop" });
    const tools = work
      .records<{ hash: string; content: { function: { name: string } }[] }>("out/prompts.jsonl")
      .filter(({ hash }) => [record.metadata.tools_hash, record.metadata.user_tools_hash].includes(hash))
      .map(({ content }) => content.map((tool) => tool.function.name));
    expect(tools).toEqual([
      ["c__get_line", "c__enable_roaming"],
      ["p__look_at_screen", "p__set_airplane_mode", "p__reset_network"],
    ]);
    const shown = (await work.run(["show", "out", "p1"])).stdout;
    expect(shown).toMatch(/setup {2}p__set_airplane_mode/);
    expect(shown).toMatch(/does {2}p__look_at_screen \{\}.*\n.*sees {2}\{"handset_id":"H1"/);
  });

  test("flawless dialogues pass, and replays agree; a user that only says it did is not enough", async () => {
    const work = workFolder();
    writePhones(work, [phoneQuery("p1")]);
    await work.run([...PHONE, ...SCRIPTED]);
    const replayed = await work.run(["replay", "out"]);
    expect(replayed.stdout).toBe("out: 1 records, 4 calls made again: all agree\n");
    await work.run(["eval", "out", "--quiet"]);
    expect(scoresOf(work, "out/scores.jsonl", "p1")).toMatchObject({
      ...{ user_actions: true, state: true, actions: true, user: true },
    });
    const [record] = work.records(PHONE_FILE) as [Trajectory];
    const other_calls = record.other_calls?.filter(({ name }) => name !== "p__set_airplane_mode");
    const metadata = { ...record.metadata, final_state_hash: undefined };
    work.write("lazy.jsonl", lines([{ ...record, other_calls, metadata }]));
    const elsewhere = ["--domains", "Carrier", "Phone", "--base-path", "phones"];
    const judged = await work.run(["eval", "lazy.jsonl", ...elsewhere, "--json"]);
    expect(judged.code).toBe(0);
    expect(scoresOf(work, "lazy.scores/scores.jsonl", "p1")).toMatchObject({ user_actions: false, state: false });
  });

  test("neither party can use the other's tools, and nobody the setup's ids", async () => {
    const work = workFolder();
    const plan = [
      { steps: [{ calls: [{ name: "Phone.reset_network", arguments: {} }] }], say: "I reset it." },
      { user_calls: [{ name: "Carrier.enable_roaming", arguments: { line: "L1" } }], user: "Thanks. ###STOP###" },
    ];
    writePhones(work, [phoneQuery("p1", { task_info: { plan } })]);
    await work.run([...PHONE, ...SCRIPTED]);
    const [record] = work.records(PHONE_FILE) as [Trajectory];
    expect(record.messages[2]?.content).toMatch(/There is no tool named .{2}p__reset_network/);
    expect(record.messages[2]?.content).toContain("Available tools: c__get_line, c__enable_roaming.");
    expect(record.other_calls?.[1]).toMatchObject({ party: "user", is_error: true });
    expect(record.metadata.faults).toContainEqual({ type: "unknown_tool", call_id: "user_1_0", by: "user" });
    const checked = await work.run(["check", "phones"]);
    expect(checked.code).toBe(2);
    expect(checked.stdout + checked.stderr).toContain(
      'user_calls has "Carrier.enable_roaming", which is none of the user_tools',
    );
  });

  test("a run that is killed goes on in the same world", async () => {
    const work = workFolder();
    const ids = Array.from({ length: 12 }, (_, index) => `p${index}`);
    writePhones(
      work,
      ids.map((id) => phoneQuery(id)),
    );
    await work.run([...PHONE, ...SCRIPTED]);
    const whole = work.canonical(PHONE_FILE);
    // the journal as far as it came when the process died: in the middle of the user's calls
    const journal = work.read("out/journal.jsonl").split("\n");
    const cut = journal.findIndex((line) => line.includes("p__set_airplane_mode") && line.includes('"by":"user"')) + 1;
    work.write("out/journal.jsonl", `${journal.slice(0, cut).join("\n")}\n`);
    work.write(PHONE_FILE, "");
    const resumed = await work.run([...PHONE, ...SCRIPTED]);
    expect(resumed.code).toBe(0);
    expect(work.canonical(PHONE_FILE)).toEqual(whole);
  });

  test("exports keep the agent's dialogue and count what they leave out", async () => {
    const work = workFolder();
    writePhones(work, [phoneQuery("p1")]);
    await work.run([...PHONE, ...SCRIPTED]);
    await work.run(["export", "out", "--format", "openai", "--out", "rows", "--include-scripted", "--json"]);
    const report = await work.run(["export", "out", "--format", "trl", "--out", "trl", "--include-scripted", "--json"]);
    expect(report.stdout + report.stderr).toContain("calls of the user and of the setup left out");
  });
});

describe("openings", () => {
  const opening = [
    { role: "user", content: "My line is L1, and I have no service." },
    { role: "assistant", content: null, tool_calls: [callOf("o1", "c__enable_roaming", { line: "L1" })] },
    { role: "tool", tool_call_id: "o1", content: '{"line": "L1", "roaming": true}' },
    { role: "assistant", content: "Roaming is on." },
    { role: "user", content: "Still nothing." },
  ];
  const plan = [
    { steps: [{ calls: [{ name: "get_line", arguments: { line: "L1" } }] }], say: "Roaming is {{get_line.roaming}}." },
    { user: "Thanks. ###STOP###" },
  ];

  function callOf(id: string, name: string, args: object) {
    return { id, type: "function", function: { name, arguments: args } };
  }

  test("the world is where the dialogue is, and what was there before is not the agent's doing", async () => {
    const work = workFolder();
    writePhones(work, [phoneQuery("p1", { messages: opening, user_tools: undefined, task_info: { plan } })]);
    const run = await work.run([...PHONE, ...SCRIPTED]);
    expect([run.code, run.stderr]).toEqual([0, ""]);
    const [record] = work.records(PHONE_FILE) as [Trajectory];
    expect(record.messages.slice(0, 5)).toMatchObject([
      opening[0],
      { role: "assistant", content: "", tool_calls: [{ id: "o1", function: { arguments: '{"line":"L1"}' } }] },
      opening[2],
      opening[3],
      opening[4],
    ]);
    expect(record.messages.at(-2)?.content).toBe("Roaming is true.");
    expect(record.metadata).toMatchObject({ tool_call_count: 1, opening_messages: 5, total_turns: 1, faults: [] });
    expect((await work.run(["replay", "out"])).stdout).toContain("1 calls made again: all agree");
    await work.run(["eval", "out", "--quiet"]);
    expect(scoresOf(work, "out/scores.jsonl", "p1")).toMatchObject({ state: true, actions: true });
  });

  test("an opening that the tools answer differently today is marked", async () => {
    const work = workFolder();
    const told = opening.map((message) => (message.role === "tool" ? { ...message, content: "fine" } : message));
    writePhones(work, [phoneQuery("p1", { messages: told, user_tools: undefined, task_info: { plan } })]);
    await work.run([...PHONE, ...SCRIPTED]);
    const [record] = work.records(PHONE_FILE) as [Trajectory];
    expect(record.metadata.faults).toEqual([
      { type: "opening_differs", call_id: "o1", tool: "c__enable_roaming", content: '{"line":"L1","roaming":true}' },
    ]);
  });

  test.each([
    ["a result without its call", [opening[0], opening[2]], '"messages[1]" must have the "tool_call_id"'],
    ["a call without its result", [opening[0], opening[1], opening[4]], 'comes before the result of the call "o1"'],
    ["a call at the end", [opening[0], opening[1]], 'no result of the call "o1"'],
    ["the same id twice", [...opening.slice(0, 3), opening[1], opening[2]], 'a second call with the id "o1"'],
  ])("refused with its line: %s", async (_, messages, sentence) => {
    const work = workFolder();
    writePhones(work, [phoneQuery("p1", { messages })]);
    const run = await work.run([...PHONE, ...SCRIPTED]);
    expect(run.code).toBe(2);
    expect(run.stderr).toContain("Carrier_Phone.jsonl:1");
    expect(run.stderr).toContain(sentence);
  });
});

test.each([
  [{ setup: { name: "x" } }, '"setup" must be a list of calls'],
  [{ setup: [{ arguments: {} }] }, '"setup[0]" must have a "name"'],
  [{ user_tools: "Phone.*" }, '"user_tools" must be a list of tool names'],
  [{ user_tools: ["Fone.*"] }, 'user_tools names "Fone.*", which is not there'],
])("a query that says it wrong is refused: %j", async (more, sentence) => {
  const work = workFolder();
  writePhones(work, [phoneQuery("p1", more)]);
  const run = await work.run([...PHONE, ...SCRIPTED]);
  expect(run.code).toBe(2);
  expect(run.stderr).toContain(sentence);
});

test("a dataset's own setup comes first, and its user tools count for all its queries", async () => {
  const work = workFolder();
  writePhones(work, [phoneQuery("p1", { user_tools: undefined })]);
  work.write(
    "run.yml",
    `output_dir: out
agent_model: scripted/agent
user_model: scripted/user
datasets:
  Carrier_Phone:
    base_path: phones
    setup: [{ name: Phone.reset_network }]
    user_tools: ["Phone.*"]
`,
  );
  const run = await work.run(["run", "--config", "run.yml", "--quiet"]);
  expect([run.code, run.stderr]).toEqual([0, ""]);
  const [record] = work.records(PHONE_FILE) as [Trajectory];
  expect(record.other_calls?.map(({ name }) => name)).toEqual([
    ...["p__reset_network", "p__set_airplane_mode", "p__look_at_screen", "p__set_airplane_mode"],
  ]);
  await work.run(["eval", "out", "--quiet"]);
  expect(scoresOf(work, "out/scores.jsonl", "p1")).toMatchObject({ user_actions: true, state: true });
  const drifted = work.read("run.yml").replace("reset_network", "look_at_screen");
  work.write("run.yml", drifted);
  const again = await work.run(["run", "--config", "run.yml", "--quiet"]);
  expect(again.code).toBe(2);
  expect(again.stderr).toContain("setup: ");
});
