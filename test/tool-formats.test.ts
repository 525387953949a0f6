// Models without function calling: whole rollouts in the text formats, against servers that refuse anything but text.
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type Config, type ResolvedRun, resolveConfig } from "../src/config/index.ts";
import type { ModelRequest, Trajectory } from "../src/core/index.ts";
import { createScriptFinder } from "../src/domains/index.ts";
import type { ToolFormat } from "../src/models/index.ts";
import { TEXT_FORMATS } from "../src/models/tool-format/formats.ts";
import { type WorkFolder, workFolder } from "./support/cli.ts";
import { networkRun, play, serveScripted } from "./support/network-run.ts";
import { writePhones } from "./support/phone-dataset.ts";
import { call, itemQuery, planQuery, type ShopQuery, writeShop } from "./support/shop-dataset.ts";
import { serveText, type TextLine, type TextModel } from "./support/text-model.ts";

const FORMATS = ["hermes", "react"] as const;
const SHOP = ["single", "--domains", "Domain1", "--base-path", "shop", "--output-dir", "out", "--quiet"];
const FILE = "out/trajectories/Domain1.jsonl";
const TEXT_AGENT = ["--agent-model", "openai/m", "--user-model", "scripted/user", "--models-config", "models.yml"];

/** A working folder with the shop, and a registry that names the server. */
function place(
  { baseUrl }: Pick<TextModel, "baseUrl">,
  { entry = "", queries }: { entry?: string; queries?: ShopQuery[] } = {},
) {
  const work = workFolder();
  writeShop(work, { queries: queries ?? [shopQuery] });
  work.write("models.yml", `models:\n  m: {provider: openai, api_base: "${baseUrl}"${entry}}\n`);
  return work;
}

function inProcess(work: WorkFolder, config: Partial<Config>, tool_format: ToolFormat): ResolvedRun {
  const parties = { agent_model: "openai/m", user_model: "scripted/user", tool_format };
  const all = {
    base_path: join(work.path, "shop"),
    datasets: ["Domain1"],
    sync: "never",
    ...parties,
    ...config,
  } as Config;
  return resolveConfig(all, { folder: join(work.path, "out") });
}

/** The user's two lines; what the agent does, the server says. */
const shopQuery = planQuery("q1", [{ say: "" }, { user: "Yes.", say: "" }, { user: "Thanks. ###STOP###" }]);

const tagged = (name: string, args: string) => `<tool_call>\n{"name": "${name}", "arguments": ${args}}\n</tool_call>`;
const find = (name: string) => `{"name": "${name}"}`;
const found = (name: string) => `{"item_id":"item-${name}","name":"${name}"}`;

/** The same three steps and two answers in each format, and what comes back of the results. */
const RESEARCH = {
  hermes: {
    lines: [
      `<think>\nTwo at once.\n</think>\n\nI look.\n${tagged("find_item", find("lamp"))}\n${tagged("find_item", find("desk"))}`,
      tagged("find_item", find("nothing")),
      "I found both. Do you want them?",
      "They are yours.",
    ],
    results: [
      `<tool_response>\n${found("lamp")}\n</tool_response>\n<tool_response>\n${found("desk")}\n</tool_response>`,
      '<tool_response>\n{"error":"There is no such item"}\n</tool_response>',
    ],
  },
  react: {
    lines: [
      `I look.\nThought: Two at once.\nAction: find_item\nAction Input: ${find("lamp")}\nAction: find_item\nAction Input: ${find("desk")}`,
      `Action: find_item\nAction Input: ${find("nothing")}`,
      "Final Answer: I found both. Do you want them?",
      "Final Answer: They are yours.",
    ],
    results: [
      `Observation: ${found("lamp")}\nObservation: ${found("desk")}`,
      'Observation: {"error":"There is no such item"}',
    ],
  },
};

const callOf = (name: string, given: string) => ({ function: { name, arguments: given } });

describe.each(FORMATS)("%s", (format) => {
  const { lines, results } = RESEARCH[format];

  test("a model that speaks only text plays a whole rollout, and gets its history back as it said it", async () => {
    const model = await serveText(lines);
    const work = place(model);
    expect(await work.run([...SHOP, ...TEXT_AGENT, "--tool-format", format])).toEqual({
      code: 0,
      stdout: "",
      stderr: "",
    });
    const [record] = work.records(FILE);
    expect(record?.metadata).toMatchObject({
      stop_reason: "user_stop",
      tool_format: format,
      tool_call_count: 3,
      faults: [],
    });
    expect(record?.messages).toMatchObject([
      { role: "user", content: "Hello, this is q1." },
      {
        role: "assistant",
        content: "I look.",
        reasoning_content: "Two at once.",
        tool_calls: [callOf("find_item", find("lamp")), callOf("find_item", find("desk"))],
      },
      { role: "tool", content: found("lamp") },
      { role: "tool", content: found("desk") },
      { role: "assistant", content: "", tool_calls: [callOf("find_item", find("nothing"))] },
      { role: "tool", content: '{"error":"There is no such item"}' },
      { role: "assistant", content: "I found both. Do you want them?" },
      { role: "user", content: "Yes." },
      { role: "assistant", content: "They are yours." },
      { role: "user", content: "Thanks." },
    ]);

    const system = model.asked[0]?.[0]?.content ?? "";
    expect(system.endsWith(TEXT_FORMATS[format].describe(TEXT_FORMATS[format].readTools(system)?.tools ?? []))).toBe(
      true,
    );
    expect(system).toContain('"name":"find_item"');
    const history = [
      { role: "system", content: system },
      { role: "user", content: "Hello, this is q1." },
      { role: "assistant", content: lines[0] },
      { role: "user", content: results[0] },
      { role: "assistant", content: lines[1] },
      { role: "user", content: results[1] },
      { role: "assistant", content: lines[2] },
      { role: "user", content: "Yes." },
    ];
    for (const [index, asked] of model.asked.slice(0, 3).entries())
      expect(asked).toEqual(history.slice(0, 2 + 2 * index));
    // reasoning of earlier turns does not go back, as natively
    const spoken = {
      hermes: lines[0]?.replace(/^.*?<\/think>\n\n/s, ""),
      react: lines[0]?.replace("Thought: Two at once.\n", ""),
    };
    expect(model.asked[3]).toEqual(history.with(2, { role: "assistant", content: spoken[format] ?? "" }));
    expect(model.asked).toHaveLength(4);
    expect(model.received.map(({ body }) => body.stop)).toEqual(model.asked.map(() => TEXT_FORMATS[format].stop));
    expect((await work.run(["show", "out", "q1"])).stdout).toContain(`── q1 (Domain1, tool_format: ${format})`);
  });

  test("exports are native unless asked; asked, a row is what was on the wire", async () => {
    const model = await serveText(lines);
    const work = place(model);
    await work.run([...SHOP, ...TEXT_AGENT, "--tool-format", format]);
    const exported = async (...more: string[]) => {
      const args = [
        "export",
        "out",
        "--format",
        "openai",
        "--out",
        "rows.jsonl",
        "--include-scripted",
        "--strict",
        ...more,
      ];
      expect((await work.run(args)).stdout).toContain("1 records in = 1 used for 1 rows");
      expect((await work.run(["validate", "rows.jsonl", "--format", "openai"])).code).toBe(0);
      return work.records<{ messages: object[]; tools?: object[] }>("rows.jsonl")[0];
    };
    const native = await exported();
    expect(native?.tools).toHaveLength(1);
    expect(native?.messages[2]).toHaveProperty("tool_calls");
    const text = await exported("--tool-format", format);
    expect(text).not.toHaveProperty("tools");
    expect(text?.messages).toEqual([...(model.asked[3] ?? []), { role: "assistant", content: lines[3] }]);
  });

  test("a run that is killed in the middle of a call goes on where it stood, and asks for nothing again", async () => {
    const slow = lines.map((line) => line.replaceAll("desk", "slow"));
    const model = await serveText(slow);
    const work = place(model);
    const run = [...SHOP, ...TEXT_AGENT, "--tool-format", format];
    work.write("slow", "");
    const { child, finished } = work.start(run);
    await work.until("waiting");
    child.kill("SIGKILL");
    await finished;
    work.remove("slow");
    expect(model.asked).toHaveLength(1);
    expect((await work.run(run)).code).toBe(0);
    expect(model.asked).toHaveLength(4);
    const before = work.canonical(FILE);
    expect((await work.run([...run, "--output-dir", "whole"])).code).toBe(0);
    expect(before).toEqual(work.canonical("whole/trajectories/Domain1.jsonl"));
    expect(model.asked.slice(4)).toEqual(model.asked.slice(0, 4));
  });

  test("at the step limit the last message says that no tool can be called, and the system prompt stays", async () => {
    const model = await serveText([lines[1] ?? "", lines[2] ?? "", lines[3] ?? ""]);
    const work = place(model);
    await work.run([...SHOP, ...TEXT_AGENT, "--tool-format", format, "--max-steps-per-turn", "1"]);
    const [first, second, third] = model.asked;
    expect(second?.[0]).toEqual(first?.[0]);
    expect(second?.at(-1)?.content).toBe(`${results[1]}\n\n${TEXT_FORMATS[format].toolsOff}`);
    expect(JSON.stringify(third)).not.toContain(TEXT_FORMATS[format].toolsOff);
    expect(work.records(FILE)[0]?.metadata.stop_reason).toBe("user_stop");
  });

  test("the same 30 questions have the same calls, results and answers as natively, flawless or not", async () => {
    const work = workFolder();
    const queries = Array.from({ length: 30 }, (_, index) => variedQuery(index));
    writeShop(work, { queries });
    for (const skill of ["", "?skill=0.5"]) {
      const agent = ["--agent-model", `scripted/agent${skill}`, "--user-model", "scripted/user"];
      const said = async (name: string) => {
        await work.run([...SHOP, ...agent, "--tool-format", name, "--output-dir", `${name}${skill.length}`]);
        return work.records(`${name}${skill.length}/trajectories/Domain1.jsonl`).map(withoutIds);
      };
      const [native, text] = [await said("native"), await said(format)];
      expect(native).toHaveLength(30);
      expect(byId(text)).toEqual(byId(native));
    }
  });

  test("simulated users with tools of their own speak it too, in process and over a socket", async () => {
    const work = workFolder();
    writePhones(work);
    const { url } = await serveScripted({
      findScript: createScriptFinder({ basePath: join(work.path, "phones") }).find,
    });
    const entry = { provider: "openai", api_base: url };
    const models = { "scripted-agent": entry, "scripted-user": entry };
    const run = async (out: string, prefix: string, tool_format: string) => {
      const party = (role: string) => ({ model: `${prefix}${role}`, tool_format });
      const dataset = { agent: party("agent"), user: party("user") };
      work.write("run.yml", JSON.stringify({ base_path: "phones", models, datasets: { Carrier_Phone: dataset } }));
      const played = await work.run(["run", "--config", "run.yml", "--output-dir", out, "--quiet"]);
      expect(played).toMatchObject({ code: 0, stderr: "" });
      return work.records(`${out}/trajectories/Carrier_Phone.jsonl`);
    };
    const said = (records: Trajectory[]) => byId(records.map(withoutIds));
    const native = await run("native", "scripted/", "native");
    expect(said(native)[0]?.others).toHaveLength(3);
    for (const prefix of ["scripted/", "openai/scripted-"]) {
      const text = await run(`text-${prefix.length}`, prefix, format);
      expect(said(text)).toEqual(said(native));
      expect(text[0]?.metadata).toMatchObject({ tool_format: format, user_tool_format: format });
    }
  });

  test("a cassette holds the text, and plays it again", async () => {
    const model = await serveText(lines);
    const work = place(model);
    const run = [...SHOP, ...TEXT_AGENT, "--tool-format", format];
    await work.run([...run, "--record", "tapes"]);
    await model.close();
    expect((await work.run([...run, "--replay", "tapes", "--output-dir", "again"])).code).toBe(0);
    expect(work.canonical("again/trajectories/Domain1.jsonl")).toEqual(work.canonical(FILE));
  });
});

/** Lookups by one and several calls, errors, references to results, calls in the opening, talk alone. */
function variedQuery(index: number): ShopQuery {
  const id = `q${index + 10}`;
  if (index % 5 === 0) return itemQuery(id);
  if (index % 7 === 0) return { ...itemQuery(id), messages: begun(id) };
  const twice = { calls: [`lamp ${index}`, "nothing"].map((name) => ({ name: "find_item", arguments: { name } })) };
  const steps = [
    { think: "Look twice.", text: "One moment.", ...twice },
    call("find_item", { name: "{{find_item#1.name}} </tool_call> \n Observation: 1.0" }),
  ];
  return planQuery(id, [
    { think: "Ask.", say: index % 2 ? "Which one?" : "Which one, please?\nAnd where?" },
    {
      user: "The lamp.",
      steps: index % 3 ? steps : steps.slice(0, 1),
      think: "Done.",
      say: "It is {{find_item#1.item_id}}.",
    },
    { user: "Thanks. ###STOP###" },
  ]);
}

/** A dialogue that begins with a call, its result and another word of the user. */
function begun(id: string): object[] {
  const made = { id: "c1", type: "function", function: { name: "find_item", arguments: '{"name": "lamp"}' } };
  return [
    { role: "user", content: `Hello, this is ${id}.` },
    { role: "assistant", content: "", tool_calls: [made] },
    { role: "tool", content: found("lamp"), tool_call_id: "c1" },
    { role: "user", content: "And another?" },
  ];
}

function withoutIds({ id, messages, metadata, other_calls = [] }: Trajectory) {
  return {
    id,
    messages: messages.map((message) => {
      if (message.role === "tool") return { ...message, tool_call_id: "" };
      if (message.role === "user") return message;
      return { ...message, tool_calls: message.tool_calls?.map((made) => made.function) };
    }),
    others: other_calls.map(({ id: _, ...other }) => other),
    stop: metadata.stop_reason,
    state: metadata.final_state_hash,
    errors: metadata.tool_error_count,
    faults: metadata.faults.map(({ type }) => type),
  };
}

function byId<T extends { id: string }>(records: T[]): T[] {
  return records.toSorted((a, b) => (a.id < b.id ? -1 : 1));
}

describe("what is badly written", () => {
  async function playLines(
    format: ToolFormat,
    ...lines: TextLine[]
  ): Promise<{ record: Trajectory; model: TextModel }> {
    const model = await serveText([...lines, "Done.", "Bye."]);
    const work = place(model);
    const { records } = await play(
      inProcess(work, { models: { m: { provider: "openai", api_base: model.baseUrl } } }, format),
    );
    return { record: records[0] as Trajectory, model };
  }
  const toolResults = ({ messages }: Trajectory) => messages.flatMap((m) => (m.role === "tool" ? [m.content] : []));
  const faultsOf = ({ metadata }: Trajectory) => metadata.faults.map(({ type }) => type);

  test.each([
    ["hermes", tagged("find_itme", find("lamp")), "unknown_tool", /no tool named \\"find_itme\\"/],
    [
      "hermes",
      '<tool_call>{"name": "find_item", "arguments": {"name": "lamp}}</tool_call>',
      "malformed_arguments",
      /not valid JSON/,
    ],
    ["hermes", '<tool_call>{"name": "find_item", "arguments": {"name": "la', "malformed_arguments", /not valid JSON/],
    ["hermes", tagged("find_item", '{"nme": "lamp"}'), "invalid_arguments", /Invalid arguments/],
    ["react", `Action: find_itme\nAction Input: ${find("lamp")}`, "unknown_tool", /no tool named \\"find_itme\\"/],
    ["react", "Action: find_item\nAction Input: the lamp", "malformed_arguments", /not valid JSON/],
    ["react", "Action: find_item", "invalid_arguments", /Invalid arguments/],
  ] as const)("%s: %j gets the same error as natively: %s", async (format, line, label, error) => {
    const { record } = await playLines(format, line);
    expect(faultsOf(record)).toContain(label);
    expect(toolResults(record)).toEqual([expect.stringMatching(error)]);
    expect(record.metadata.stop_reason).toBe("user_stop");
  });

  test.each([
    ["an unclosed tag", "hermes", `<tool_call>{"name": "find_item", "arguments": ${find("lamp")}}`, "unclosed_call"],
    ["a call in a code block", "hermes", `\`\`\`\n${tagged("find_item", find("lamp"))}\n\`\`\``, "fenced_call"],
    ["text after a call", "hermes", `${tagged("find_item", find("lamp"))}\nIt is here.`, "text_after_call"],
    ["a result that it made up", "hermes", `${tagged("find_item", find("lamp"))}\n<tool_response>x`, "made_up_result"],
    [
      "a call in a code block",
      "react",
      `Action: find_item\nAction Input: \`\`\`json\n${find("lamp")}\n\`\`\``,
      "fenced_call",
    ],
    [
      "a result that it made up",
      "react",
      `Action: find_item\nAction Input: ${find("lamp")}\nObservation: x`,
      "made_up_result",
    ],
  ] as const)("%s (%s): the call is made, and the record says so", async (_, format, line, label) => {
    const { record } = await playLines(format, line);
    expect(faultsOf(record)).toEqual([label]);
    expect(toolResults(record)).toEqual([found("lamp")]);
  });

  test("ten calls at once have ten results, in one message", async () => {
    const names = Array.from({ length: 10 }, (_, index) => `lamp ${index}`);
    const { record, model } = await playLines(
      "hermes",
      names.map((name) => tagged("find_item", find(name))).join("\n"),
    );
    expect(toolResults(record)).toEqual(names.map(found));
    expect(model.asked[1]?.at(-1)?.content.match(/<tool_response>/g)).toHaveLength(10);
    const ids = record.messages.flatMap((m) =>
      m.role === "assistant" ? (m.tool_calls ?? []).map(({ id }) => id) : [],
    );
    expect(new Set(ids).size).toBe(10);
    expect(faultsOf(record)).toEqual([]);
  });

  test("a call inside its thinking is none", async () => {
    const thinking = `<think>I could write ${tagged("find_item", find("lamp"))}</think>`;
    const { record } = await playLines("hermes", `${thinking}\n\nWhich lamp?`);
    expect(record.metadata.tool_call_count).toBe(0);
    expect(record.messages[1]).toMatchObject({ content: "Which lamp?" });
  });

  test("a call that was cut off is not made; one before a result that was made up, and then cut off, is", async () => {
    const cut = { text: '<tool_call>{"name": "find_item", "arguments": {"name": "la', finish: "length" };
    const { record } = await playLines("hermes", cut);
    expect(record.metadata.stop_reason).toBe("truncated_reply");
    expect(toolResults(record)).toEqual([]);
    const text = `Action: find_item\nAction Input: ${find("lamp")}\nObservation: and on and`;
    const { record: other } = await playLines("react", { text, finish: "length" });
    expect(toolResults(other)).toEqual([found("lamp")]);
    expect(other.metadata.stop_reason).toBe("user_stop");
  });

  test("a call in another form is asked for once more, in this one", async () => {
    const line = '```json\n{"name": "find_item", "arguments": {"name": "lamp"}}\n```';
    const model = await serveText([line]);
    const work = place(model);
    const { stdout } = await work.run([...SHOP.slice(0, -1), ...TEXT_AGENT, "--tool-format", "hermes"]);
    expect(work.records(FILE)[0]?.metadata.stop_reason).toBe("text_call");
    expect(model.asked[1]?.[0]?.content).toContain("not in the format described below");
    expect(stdout).toContain("openai/m does not keep to hermes (tool_format)");
  });
});

test("the registry's format applies where the party says nothing; another format is drift", async () => {
  const model = await serveText(RESEARCH.hermes.lines);
  const work = place(model, { entry: ", tool_format: hermes", queries: [shopQuery, { ...shopQuery, id: "q2" }] });
  expect((await work.run([...SHOP, ...TEXT_AGENT, "--limit", "1"])).code).toBe(0);
  expect(work.records(FILE)[0]?.metadata.tool_format).toBe("hermes");
  const changed = await work.run([...SHOP, ...TEXT_AGENT, "--tool-format", "react"]);
  expect(changed.code).toBe(2);
  expect(changed.stderr).toContain("agent tool format: hermes → react");
  // the server refuses what is native
  const native = await work.run([...SHOP, ...TEXT_AGENT, "--tool-format", "native", "--output-dir", "native"]);
  expect(native.stderr + native.stdout).toContain("this server knows no tools");
});

test("mock-llm plays a model without function calling, on combined domains and in any format", async () => {
  const bodies: string[] = [];
  const { url } = await serveScripted({ onRequest: ({ body }) => bodies.push(body) });
  const work = workFolder();
  const run = [
    "cross",
    "--domains",
    "StudentAcademicPortal",
    "StudentFinancialServices",
    "--bundled",
    "--limit",
    "2",
    "--quiet",
  ];
  work.write("models.yml", `models:\n  scripted-agent: {provider: openai, api_base: "${url}"}\n`);
  const agent = [
    "--agent-model",
    "openai/scripted-agent",
    "--user-model",
    "scripted/user",
    "--models-config",
    "models.yml",
  ];
  const said = async (format: string) => {
    expect((await work.run([...run, ...agent, "--tool-format", format, "--output-dir", format])).code).toBe(0);
    const file = "trajectories/StudentAcademicPortal_StudentFinancialServices.jsonl";
    return byId(work.records(`${format}/${file}`).map(withoutIds));
  };
  const native = await said("native");
  expect(native.length).toBeGreaterThan(0);
  bodies.length = 0;
  for (const format of FORMATS) expect(await said(format)).toEqual(native);
  expect(bodies.length).toBeGreaterThan(4);
  for (const body of bodies) expect(JSON.parse(body)).not.toHaveProperty("tools");
});

test.each(FORMATS)(
  "a model in code speaks %s too: it gets text alone, and its thinking is split off",
  async (format) => {
    const { lines } = RESEARCH[format];
    const work = place({ baseUrl: "http://127.0.0.1:9/v1" });
    const asked: ModelRequest[] = [];
    const answer = (request: ModelRequest) => {
      asked.push(request);
      return lines[request.messages.filter(({ role }) => role === "assistant").length] ?? "";
    };
    const resolved = inProcess(work, { agent_model: "mine" }, format);
    const { records } = await play(resolved, { agents: { mine: answer } });
    expect(records[0]?.metadata).toMatchObject({ stop_reason: "user_stop", tool_call_count: 3, tool_format: format });
    expect(records[0]?.messages[1]).toMatchObject({ content: "I look.", reasoning_content: "Two at once." });
    expect(asked.map(({ tools }) => tools)).toEqual(asked.map(() => []));
  },
);

test.each(FORMATS)(
  "a context that fills is summarised in %s too, and the dialogue goes on from there",
  async (format) => {
    const server = await serveScripted();
    const config = { limit: 8, max_workers: 4 };
    const native = await play(networkRun(server.url, { config }));
    const full = { ...config, tool_format: format, context_limit: 5600, on_context_full: "summarise" } as const;
    const { records } = await play(networkRun(server.url, { config: full }));
    const ended = records.filter(({ success }) => success);
    expect(ended.filter(({ summaries = [] }) => summaries.length > 0).length).toBeGreaterThan(1);
    const others = native.records.filter(({ id }) => ended.some((record) => record.id === id));
    expect(byId(ended.map(withoutIds))).toEqual(byId(others.map(withoutIds)));
  },
);
