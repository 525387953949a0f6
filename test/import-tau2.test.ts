// `rollout import tau2`: a benchmark of the same shape, its own Python, real runs of what was imported.
import { spawnSync } from "node:child_process";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import type { Trajectory } from "../src/core/index.ts";
import { type WorkFolder, workFolder } from "./support/cli.ts";
import { DESK_TASKS, replayDesk, writeDesk } from "./support/import/desk-benchmark.ts";

/** Found in the world of its own task only. */
const FIND_L9 = '{"action_id": "f", "name": "find_loan", "arguments": {"loan_id": "L9"}, "requestor": "assistant"}';

type Line = { id: string; task_info: { plan?: object[]; [key: string]: unknown }; [key: string]: unknown };

async function importDesk(work: WorkFolder, ...more: string[]) {
  const imported = await work.run(["import", "tau2", "bench", ...more]);
  expect([imported.code, imported.stderr]).toEqual([0, ""]);
  return imported.stdout;
}

const queriesOf = (work: WorkFolder, file = "library") => work.records<Line>(`imported/library/queries/${file}.jsonl`);

describe("what becomes of a task", () => {
  test("scenario, setup, opening, user tools, plan, facts and assertions", async () => {
    const work = workFolder();
    writeDesk(work);
    await importDesk(work);
    const [extend, lamp, later] = queriesOf(work) as [Line, Line, Line];
    for (const part of ["short of time", "two more weeks", "Your loan is L1.", "when it ends", "Be brief."])
      expect(extend.user_system_prompt).toContain(part);
    expect(extend.task_info).toMatchObject({
      must_tell: ["5.5"],
      assertions: ["The agent is polite."],
      description: { purpose: "a plain case" },
    });
    expect(work.read("imported/library/queries/library.jsonl")).toContain('{"loan_id":"L1","weeks":2.0}');
    expect(lamp.setup).toEqual([
      {
        name: "rollout_setup",
        arguments: {
          data: { agent_data: { loans: { L9: { id: "L9", weeks: 100 } } } },
          actions: [{ env_type: "user", func_name: "unplug", arguments: { plugged: false } }],
        },
      },
    ]);
    expect(lamp.user_tools).toEqual(["look", "press"]);
    expect(lamp.task_info.plan).toMatchObject([
      { say: expect.any(String) },
      {
        user_calls: [{ name: "press" }, { name: "look" }],
        steps: [{ calls: [{ name: "extend_loan", arguments: { loan_id: "L9", weeks: 1 } }] }],
      },
      { user_calls: [{ name: "press", arguments: { button: "dim" } }] },
      { user: expect.stringContaining("###STOP###") },
    ]);
    expect(later.messages).toMatchObject([
      { role: "user" },
      { role: "assistant", tool_calls: [{ id: "c1", function: { name: "extend_loan" } }] },
      { role: "tool", tool_call_id: "c1" },
      { role: "assistant", content: "Done. Anything else?" },
    ]);
    expect(work.read("imported/library/policy.md")).toBe("Extend loans by four weeks at most.\n");
  });

  test("the config names the server, what is hidden, and what shows its state", async () => {
    const work = workFolder();
    writeDesk(work);
    await importDesk(work, "--out", "made");
    const { datasets } = parse(work.read("made/library/rollout.yml"));
    expect(datasets.library.mcpServers.library).toMatchObject({
      isolation: "pool",
      reset_tool: "rollout_reset",
      state_tool: "rollout_state",
      hidden_tools: ["rollout_setup"],
    });
    // a task that gives its user no tools: the agent is not offered them instead
    expect(datasets["library-2"].mcpServers.library.hidden_tools).toEqual(["rollout_setup", "look", "press"]);
  });

  test("a user's calls in the history are made in the setup, and that is said", async () => {
    const work = workFolder();
    const history = `[{"role": "assistant", "content": "Hello!"}, {"role": "user", "content": null, "tool_calls":
      [{"id": "u1", "name": "press", "arguments": {"button": "power"}, "requestor": "user"}]},
      {"role": "tool", "id": "u1", "content": "x", "requestor": "user"}, {"role": "user", "content": "I pressed it."}]`;
    const task = `{"id": "t", "user_scenario": {"instructions": "x"}, "initial_state": {"message_history": ${history}},
      "evaluation_criteria": {"actions": []}}`;
    writeDesk(work, [task]);
    expect(await importDesk(work)).toContain("history_calls (t)");
    const [query] = queriesOf(work) as [Line];
    expect(query.setup).toMatchObject([{ arguments: { calls: [{ name: "press", requestor: "user" }] } }]);
    expect(query.messages).toEqual([
      { role: "assistant", content: "Hello!" },
      { role: "user", content: "I pressed it." },
    ]);
  });
});

describe("what is imported", () => {
  test("passes check, and plays with the results of the benchmark's own replay, byte for byte", async () => {
    const work = workFolder();
    const { open: _, ...played } = DESK_TASKS;
    played.lamp = played.lamp.replace('"actions": [', `"actions": [${FIND_L9}, `);
    // without exact numbers on the wire, 2.0 would arrive as 2
    const tasks = Object.values(played);
    writeDesk(work, tasks);
    await importDesk(work);
    const config = "imported/library/rollout.yml";
    const checked = await work.run(["check", config]);
    expect([checked.code, checked.stdout]).toEqual([0, expect.stringContaining("4 queries")]);
    expect(checked.stdout).toContain("0 errors, 0 warnings");
    const run = await work.run(["run", "--config", config, "--output-dir", "out", "--quiet"]);
    expect([run.code, run.stderr]).toEqual([0, ""]);
    const records = ["library", "library-2"].flatMap((name) => work.records(`out/trajectories/${name}.jsonl`));
    const replayed = replayDesk(work);
    expect(records).toHaveLength(4);
    for (const record of records) {
      expect(resultsOf(record)).toEqual(replayed[record.id]?.texts);
      expect(record.metadata).toMatchObject({ stop_reason: "user_stop", faults: [] });
    }
    const told = records.find(({ id }) => id === "extend")?.messages.at(-2)?.content;
    expect(told).toContain("5.5");
  });

  test("the server shows the databases of both parties as the benchmark's replay leaves them", async () => {
    const work = workFolder();
    writeDesk(work);
    await importDesk(work);
    const [, lamp] = queriesOf(work) as [Line, Line];
    const [{ arguments: setup }] = lamp.setup as [{ arguments: object }];
    const calls: [string, string][] = [
      ["press", '{"button":"power"}'],
      ["look", "{}"],
      ["extend_loan", '{"loan_id":"L9","weeks":1}'],
      ["press", '{"button":"dim"}'],
    ];
    const { mcpServers } = parse(work.read("imported/library/rollout.yml")).datasets.library;
    const requests = [
      ["rollout_setup", JSON.stringify(setup)],
      ...calls,
      ["rollout_state", "{}"],
      ["rollout_reset", "{}"],
    ];
    const input = [...requests, ["rollout_state", "{}"], ["no_such_tool", "{}"]]
      .map(
        ([name, args], id) =>
          `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"${name}","arguments":${args}}}\n`,
      )
      .join("");
    const { command, args } = mcpServers.library;
    const { stdout } = spawnSync(command, args, {
      input: input.replace('"weeks":100', '"weeks":1e2'),
      encoding: "utf8",
    });
    const replies = stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line).result);
    const { texts, state } = replayDesk(work)["lamp|dark"] as { texts: string[]; state: string };
    expect(replies.slice(1, 5).map(({ content }) => content[0].text)).toEqual(texts);
    expect(replies[5].content[0].text).toBe(state);
    expect(JSON.parse(replies[7].content[0].text).user.lamp).toEqual({ plugged: true, power: false });
    expect(replies[8]).toMatchObject({ isError: true });
  });

  test("flawless runs pass by state, 2.0 and all", async () => {
    const work = workFolder();
    const { open: _, ...played } = DESK_TASKS;
    writeDesk(work, Object.values(played));
    await importDesk(work);
    const run = await work.run(["run", "--config", "imported/library/rollout.yml", "--output-dir", "out", "--quiet"]);
    expect([run.code, run.stderr]).toEqual([0, ""]);
    await work.run(["eval", "out", "--quiet"]);
    const states = work.records<{ id: string; check: string; pass: boolean | null }>("out/scores.jsonl");
    const passed = states.filter(({ check, pass }) => check === "state" && pass).map(({ id }) => id);
    expect(passed.sort()).toEqual(["extend", "lamp|dark", "later", "refuse"]);
    const tools = JSON.stringify(work.records("out/prompts.jsonl"));
    expect(tools).not.toContain("rollout_setup");
  });
});

describe("the report", () => {
  test("says what is whole, in part and why, on the screen and in the file", async () => {
    const work = workFolder();
    writeDesk(work, [
      ...Object.values(DESK_TASKS),
      '{"id": "bare"}',
      '{"id": "odd", "user_scenario": {"instructions": "x"}, "evaluation_criteria": {"actions": [{"name": "fly", "arguments": {}}]}}',
    ]);
    const screen = await importDesk(work);
    expect(screen).toContain("library: 7 tasks, 3 whole, 3 in part, 1 not at all");
    expect(screen).toContain("env_assertions (lamp|dark)");
    expect(screen).toContain("bare: it has no user_scenario");
    const [dataset] = JSON.parse(work.read("imported/import-report.json")).datasets;
    expect(dataset).toMatchObject({
      lost: [
        { kind: "env_assertions", ids: ["lamp|dark"] },
        { kind: "field weather", ids: ["open"] },
        { kind: "unknown_tool", ids: ["odd"] },
      ],
      not_carried: [{ ids: ["bare"] }],
    });
    expect(JSON.parse(work.read("imported/library/import-report.json")).datasets).toEqual([dataset]);
    const json = await work.run(["import", "tau2", "bench", "--json"]);
    expect(JSON.parse(json.stdout).datasets).toEqual([dataset]);
  });

  test("a domain whose code does not load is told with Python's own words, and nothing is made of it", async () => {
    const work = workFolder();
    writeDesk(work);
    work.write("bench/src/desk/domains/library/environment.py", "import a_package_that_is_not_there\n");
    const imported = await work.run(["import", "tau2", "bench"]);
    expect(imported.code).toBe(2);
    expect(imported.stdout).toContain("No module named 'a_package_that_is_not_there'");
    expect(work.names()).toEqual(["bench", "imported"]);
    expect(work.has("imported/library")).toBe(false);
  });

  test.each([
    [[], "Looked for: domains/NAME/tasks.json"],
    [["--domains", "Library"], "is no checkout"],
  ])("a folder that is none of it: exit code 2, and what was looked for", async (more, sentence) => {
    const work = workFolder();
    work.write("bench/README.md", "nothing here");
    const imported = await work.run(["import", "tau2", "bench", ...more]);
    expect([imported.code, imported.stdout]).toEqual([2, ""]);
    expect(imported.stderr).toContain(sentence);
    expect(work.names()).toEqual(["bench"]);
  });

  test("splits: base unless another is asked for", async () => {
    const work = workFolder();
    writeDesk(work);
    work.write("bench/data/desk/domains/library/split_tasks.json", '{"base": ["extend"], "hard": ["refuse", "later"]}');
    expect(await importDesk(work)).toContain("library: 1 tasks");
    expect(await importDesk(work, "--split", "hard")).toContain("library: 2 tasks");
    expect(await importDesk(work, "--split", "all")).toContain("library: 5 tasks");
    const wrong = await work.run(["import", "tau2", "bench", "--split", "easy"]);
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining("It has: base, hard, all")]);
  });

  test("a folder of somebody's own is left alone; one from an import is replaced", async () => {
    const work = workFolder();
    writeDesk(work);
    work.write("imported/library/mine.txt", "kept");
    const refused = await work.run(["import", "tau2", "bench"]);
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining("not from an import")]);
    work.remove("imported/library");
    await importDesk(work);
    await importDesk(work);
  });
});

/** The results of both parties' calls in order, without those of the opening. */
function resultsOf({ messages, other_calls = [], metadata }: Trajectory): string[] {
  const asUser = (after: number) => other_calls.filter((call) => call.party === "user" && call.after === after);
  return messages.flatMap((message, index) => [
    ...asUser(index).map(({ content }) => content),
    ...(message.role === "tool" && index >= (metadata.opening_messages ?? 0) ? [message.content] : []),
  ]);
}
