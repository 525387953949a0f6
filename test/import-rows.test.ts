// `rollout import bfcl` and `toolbench-like`: files of rows in those forms, written here, imported, checked and played.
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import type { Trajectory } from "../src/core/index.ts";
import { type WorkFolder, workFolder } from "./support/cli.ts";
import { lines } from "./support/shop-dataset.ts";

const user = (content: string) => ({ role: "user", content });
const results = ({ messages }: Trajectory) =>
  messages.flatMap((message) => (message.role === "tool" ? [message.content] : []));

async function importAndPlay(work: WorkFolder, format: string, file: string): Promise<Trajectory[]> {
  const imported = await work.run(["import", format, file]);
  expect([imported.code, imported.stderr]).toEqual([0, ""]);
  const name = (file.split("/").at(-1) as string).replace(/\.\w+$/, "");
  const config = `imported/${name}/rollout.yml`;
  const checked = await work.run(["check", config]);
  expect([checked.code, checked.stdout]).toEqual([0, expect.stringContaining("0 errors, 0 warnings")]);
  const run = await work.run(["run", "--config", config, "--output-dir", "out", "--quiet"]);
  expect([run.code, run.stderr]).toEqual([0, ""]);
  const names = Object.keys(parse(work.read(config)).datasets);
  return names.flatMap((dataset) => work.records(`out/trajectories/${dataset}.jsonl`));
}

const lostOf = (work: WorkFolder) =>
  Object.fromEntries(
    JSON.parse(work.read("imported/import-report.json")).datasets[0].lost.map(
      ({ kind, ids }: { kind: string; ids: string[] }) => [kind, ids],
    ),
  );

describe("bfcl, multi-turn", () => {
  function writeCounters(work: WorkFolder): void {
    const source = fileURLToPath(new URL("./support/import/counter_class.py", import.meta.url));
    work.write("lab/__init__.py", "raise ImportError('this loads everything that there is')\n");
    work.write("lab/classes/counter.py", readFileSync(source, "utf8"));
    work.write(
      "lab/constants/executable_backend_config.py",
      'CLASS_FILE_PATH_MAPPING = {"CounterAPI": "lab.classes.counter"}\nMULTI_TURN_FUNC_DOC_FILE_MAPPING = {"CounterAPI": "counter.json"}\n',
    );
    const name = { type: "string" };
    const describe = (tool: string, properties: object, required: string[]) => ({
      name: tool,
      description: `${tool}.`,
      parameters: { type: "dict", properties, required },
    });
    const tools = [
      describe("add", { name, amount: { type: "float", default: 1 } }, ["name"]),
      describe("names", {}, []),
      describe("divide", { name, by: { type: "integer" } }, ["name", "by"]),
    ];
    work.write("lab/data/multi_turn_func_doc/counter.json", lines(tools));
    const entry = (id: string, more: object = {}) => ({
      id,
      question: [[user("Add two and a half to a.")], [user("And which are there?")]],
      initial_config: { CounterAPI: { counts: { a: 1 } } },
      involved_classes: ["CounterAPI"],
      ...more,
    });
    work.write(
      "lab/data/counting.json",
      lines([
        entry("counting_0"),
        entry("counting_long_context_1", { excluded_function: ["divide"] }),
        entry("counting_2", { question: [[user("Divide a.")], []], missed_function: { 1: ["divide"] } }),
        entry("counting_3", { initial_config: { CounterAPI: { counts: { z: 4 } } } }),
        entry("counting_4"),
      ]),
    );
    const twice = [["add('a', amount=2.5)", "add(name='b')"], ["names()"]];
    work.write(
      "lab/data/possible_answer/counting.json",
      lines([
        { id: "counting_0", ground_truth: twice },
        { id: "counting_long_context_1", ground_truth: twice },
        { id: "counting_2", ground_truth: [[], ["divide('a', by=0)"]] },
        { id: "counting_3", ground_truth: [["divide('z', 8)"], []] },
        { id: "counting_4", ground_truth: [["add(name=names()[0])"], []] },
      ]),
    );
  }

  test("the checkout's own classes answer, each task from its own state", async () => {
    const work = workFolder();
    writeCounters(work);
    const records = await importAndPlay(work, "bfcl", "lab/data/counting.json");
    const played = Object.fromEntries(records.map((record) => [record.id, results(record)]));
    const counted = ['{"name": "a", "count": 3.5}', '{"error": "no counter b"}', "['a']"];
    expect(played).toEqual({
      counting_0: counted,
      counting_long_context_1: counted,
      counting_2: ["Error during execution: division by zero"],
      counting_3: ["0.5"],
    });
    expect(records.find(({ id }) => id === "counting_0")?.messages.filter(({ role }) => role === "user")).toMatchObject(
      [{ content: "Add two and a half to a." }, { content: "And which are there?" }, { content: expect.any(String) }],
    );
    const { datasets } = JSON.parse(work.read("imported/import-report.json"));
    expect(datasets).toMatchObject([
      {
        whole: 3,
        in_part: 1,
        not_at_all: 1,
        lost: [{ kind: "missed_function", ids: ["counting_2"] }],
        not_carried: [{ ids: ["counting_4"], why: expect.stringContaining("reference calls cannot be read") }],
      },
    ]);
  });

  test("without its checkout, it is told what was looked for", async () => {
    const work = workFolder();
    const entry = { id: "x", question: [[user("Hi")]], involved_classes: ["CounterAPI"] };
    work.write("alone.json", lines([entry]));
    const imported = await work.run(["import", "bfcl", "alone.json"]);
    expect([imported.code, imported.stderr]).toEqual([2, expect.stringContaining("multi_turn_func_doc/")]);
  });
});

describe("bfcl, single turn", () => {
  const area = {
    name: "shapes.area",
    description: "An area.",
    parameters: {
      type: "dict",
      properties: { base: { type: "float" }, unit: { type: "String" }, box: { type: "dict", properties: {} } },
      required: ["base"],
    },
  };
  const ask = (id: string, more: object = {}) => ({ id, question: [[user("An area?")]], function: [area], ...more });

  test("possible answers become plans; tools accept; what a plan cannot say is in the report", async () => {
    const work = workFolder();
    const system = { role: "system", content: "Be terse." };
    work.write(
      "shapes.json",
      lines([
        ask("one"),
        ask("two", { question: [[system, user("Two areas?")]] }),
        ask("irrelevance_3", { function: [{ ...area, name: "other" }] }),
        ask("four"),
        ask("five"),
        { nothing: "at all" },
      ]),
    );
    work.write(
      "answers.json",
      lines([
        { id: "one", ground_truth: [{ "shapes.area": { base: [2], unit: ["cm", ""], box: [{ w: [1, 2] }] } }] },
        {
          id: "two",
          ground_truth: [{ "shapes.area": { base: [1] } }, { "shapes.area": { base: [2], unit: ["M", "m"] } }],
        },
        { id: "five", ground_truth: [{ "shapes.area": { base: ["wide"] } }] },
      ]),
    );
    const imported = await work.run(["import", "bfcl", "shapes.json", "--answers", "answers.json"]);
    expect([imported.code, imported.stderr]).toEqual([0, ""]);
    const queries = work.records<{ id: string; task_info: { plan?: { steps?: object[] }[] } }>(
      "imported/shapes/queries/shapes-1.jsonl",
    );
    expect(queries.map(({ id, task_info }) => [id, task_info.plan?.[0]?.steps])).toEqual([
      ["one", [{ calls: [{ name: "shapes_area", arguments: { base: 2, box: { w: 1 } } }] }]],
      [
        "two",
        [
          {
            calls: [
              { name: "shapes_area", arguments: { base: 1 } },
              { name: "shapes_area", arguments: { base: 2, unit: "M" } },
            ],
          },
        ],
      ],
      ["four", undefined],
      ["five", undefined],
    ]);
    expect(lostOf(work)).toEqual({
      not_executable: ["one", "two", "irrelevance_3", "four", "five"],
      alternatives: ["one"],
      system_message: ["two"],
      no_answer: ["four"],
      broken_call: ["five"],
    });
    expect(imported.stdout).toContain("line 6: it has no");
    const checked = await work.run(["check", "imported/shapes/rollout.yml"]);
    expect([checked.code, checked.stdout]).toEqual([0, expect.stringContaining("0 errors, 0 warnings")]);
    const ids = ["--ids", "one,two,irrelevance_3"];
    const run = await work.run([
      "run",
      "--config",
      "imported/shapes/rollout.yml",
      "--output-dir",
      "out",
      "--quiet",
      ...ids,
    ]);
    expect([run.code, run.stderr]).toEqual([0, ""]);
    const played = work.records("out/trajectories/shapes-1.jsonl");
    expect(played.flatMap(results)).toEqual(Array(3).fill('{"status": "accepted", "name": "shapes_area"}'));
    expect(work.records("out/trajectories/shapes-2.jsonl").flatMap(results)).toEqual([]);
  });

  test("a file that is none of it: exit code 2", async () => {
    const work = workFolder();
    work.write("rows.json", lines([{ text: "Hello" }]));
    const imported = await work.run(["import", "bfcl", "rows.json"]);
    expect([imported.code, imported.stderr]).toEqual([2, expect.stringContaining('Looked for: JSON lines with "id"')]);
    expect(work.names()).toEqual(["rows.json"]);
  });
});

describe("toolbench-like", () => {
  const weather = {
    name: "get_weather",
    description: "The weather.",
    parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  };
  const bare = { name: "list_cities", description: "Cities.", parameters: { type: "object", properties: {} } };
  const asked = { id: "c1", type: "function", function: { name: "get_weather", arguments: '{"city": "Oslo"}' } };
  const tools = [weather, bare].map((each) => ({ type: "function", function: each }));
  const openai = {
    id: "openai",
    tools,
    messages: [
      user("How is Oslo?"),
      {
        role: "assistant",
        content: null,
        tool_calls: [asked, { ...asked, id: "c2", function: { ...asked.function, arguments: { city: "Bergen" } } }],
      },
      { role: "tool", tool_call_id: "c2", content: '{"t": 12.50}' },
      { role: "tool", tool_call_id: "c1", content: '{"t": -2.0}' },
      { role: "assistant", content: "Cold." },
      user("Thanks."),
      { role: "assistant", content: "Bye." },
    ],
  };
  const sharegpt = {
    id: "sharegpt",
    tools: JSON.stringify([weather]),
    conversations: [
      { from: "human", value: "How is Rome?" },
      { from: "function_call", value: '{"name": "get_weather", "arguments": {"city": "Rome"}}' },
      { from: "observation", value: '{"t": 30}' },
      { from: "gpt", value: "Warm." },
    ],
  };
  const actions = {
    id: "actions",
    conversations: [
      {
        from: "system",
        value:
          "You can use these APIs: [{'name': 'get_book', 'description': \"a book's shelf\", 'parameters': {'type': 'object', 'properties': {'title': {'type': 'string'}}, 'optional': []}}, {'name': 'Finish', 'description': 'x', 'parameters': {'type': 'object', 'properties': {}}}]\nBegin!",
      },
      { from: "user", value: "Where is Emma?" },
      { from: "assistant", value: 'Thought: look.\nAction: get_book\nAction Input: {"title": "Emma"}' },
      { from: "function", value: '{"shelf": 3}' },
      {
        from: "assistant",
        value:
          'Thought: done.\nAction: Finish\nAction Input: {"return_type": "give_answer", "final_answer": "Shelf 3."}',
      },
    ],
  };
  const xlam = {
    id: 7,
    query: "Two and three?",
    tools: JSON.stringify([
      { name: "add", description: "Adds.", parameters: { a: { type: "int" }, b: { type: "int, optional" } } },
    ]),
    answers: '[{"name": "add", "arguments": {"a": 2, "b": 3}}]',
  };

  test("rows of four forms play as they were recorded", async () => {
    const work = workFolder();
    work.write("calls.jsonl", lines([openai, sharegpt, actions, xlam]));
    const records = await importAndPlay(work, "toolbench-like", "calls.jsonl");
    const played = Object.fromEntries(records.map((record) => [record.id, results(record)]));
    expect(played).toEqual({
      openai: ['{"t": -2.0}', '{"t": 12.50}'],
      sharegpt: ['{"t": 30}'],
      actions: ['{"shelf": 3}'],
      7: ['{"status":"accepted","name":"add"}'],
    });
    const said = ({ messages }: Trajectory) => messages.at(-2)?.content;
    expect(Object.fromEntries(records.map((record) => [record.id, said(record)]))).toEqual({
      openai: "Bye.",
      sharegpt: "Warm.",
      actions: "Shelf 3.",
      7: "That is done.",
    });
    expect(lostOf(work)).toEqual({ system_message: ["actions"], no_observation: ["7"] });
  });

  test("what was never recorded is answered with an error", async () => {
    const work = workFolder();
    work.write("calls.jsonl", lines([openai]));
    await work.run(["import", "toolbench", "calls.jsonl"]);
    const file = "imported/calls/queries/calls.jsonl";
    work.write(file, work.read(file).replaceAll("Oslo", "Ulm"));
    await work.run(["run", "--config", "imported/calls/rollout.yml", "--output-dir", "out", "--quiet"]);
    const [record] = work.records("out/trajectories/calls.jsonl") as [Trajectory];
    expect(results(record)[0]).toBe('{"error": "no answer to this call of get_weather was recorded"}');
    expect(record.metadata.tool_error_count).toBe(1);
  });

  test("rows that are no dialogues are counted with their lines; a file of nothing else is refused", async () => {
    const work = workFolder();
    const silent = { tools, messages: [{ role: "assistant", content: "Hello?" }] };
    work.write("calls.jsonl", `${lines([openai, { a: 1 }, silent])}{"torn": \n${lines([{ ...openai, tools: [] }])}`);
    const imported = await work.run(["import", "toolbench-like", "calls.jsonl"]);
    expect(imported.code).toBe(0);
    expect(imported.stdout).toContain("calls: 5 tasks, 1 whole, 0 in part, 4 not at all");
    expect(imported.stdout).toContain("line-2, line-4: the row is no dialogue with tools");
    expect(imported.stdout).toContain("line-3: it has no message of the user");
    expect(imported.stdout).toContain("line-5: it describes no tool");
    work.write("none.jsonl", lines([{ a: 1 }]));
    const none = await work.run(["import", "toolbench-like", "none.jsonl"]);
    expect([none.code, none.stderr]).toEqual([2, expect.stringContaining('Looked for: JSON lines with "messages"')]);
    const missing = await work.run(["import", "toolbench-like", "missing.jsonl"]);
    expect([missing.code, missing.stderr]).toEqual([2, "There is no missing.jsonl\n"]);
  });
});
