// Research agents through `rollout multi` and `run`, in the built program as a user runs it: plain functions in Python and
// TypeScript, a corpus, the calculator and MCP servers, alone and all at once.
import { appendFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";
import type { JsonObject } from "../src/core/index.ts";
import { type WorkFolder, workFolder } from "./support/cli.ts";
import { completion, type ModelAnswer, serveModel } from "./support/model-server.ts";
import { havePython } from "./support/python/support.ts";

const SERVER = fileURLToPath(new URL("./support/mcp/modern-server.mjs", import.meta.url));

/** Each call leaves a line in the file `calls`; `slow` waits as long as the file `hold` is there. */
const pythonTools = (work: WorkFolder) => `import os, time

def note(text: str) -> dict:
    """Writes a note.

    Args:
        text: what to write
    """
    with open("${work.path}/calls", "a") as log: log.write(text + "\\n")
    return {"lines": sum(1 for _ in open("${work.path}/calls"))}

def slow(text: str) -> str:
    """Takes its time."""
    note(text)
    while os.path.exists("${work.path}/hold"): time.sleep(0.02)
    return "done"
`;

const DOCUMENTS = {
  "docs/berlin.md": "# Berlin\n\nThe Spree flows through Berlin, the capital of Germany.",
  "docs/paris.txt": "Paris, on the Seine, is the capital of France.",
};

type Calls = [name: string, args: object][];
type Line = {
  messages: { role: string; content: string }[];
  domains: string[];
  metadata: { tool_call_count: number; tool_errors: string[]; final_state_hash: string };
};

/** A question whose scripted agent makes these calls, one reply each, and then answers. */
function question(id: string, calls: Calls, answer = "42") {
  const steps = calls.map(([name, args]) => ({ calls: [{ name, arguments: args }] }));
  return { id, question: `What is ${id}?`, answer, task_info: { plan: [{ steps, say: answer }] } };
}

function prepared(files: { [name: string]: string }, ...questions: object[]): WorkFolder {
  const work = workFolder();
  for (const [name, text] of Object.entries(files)) work.write(name, text);
  work.write("questions.jsonl", questions.map((each) => `${JSON.stringify(each)}\n`).join(""));
  return work;
}

const multi = (...more: string[]) => [
  ...["multi", "--input", "questions.jsonl", "--output", "out", "--rollouts", "1", "--quiet"],
  ...["--agent-model", "scripted/agent", ...more],
];
const resultsOf = ({ messages }: Line) => messages.filter(({ role }) => role === "tool").map(({ content }) => content);
const offered = (work: WorkFolder) =>
  work
    .records<{ kind: string; content: { function: { name: string } }[] }>("out/prompts.jsonl")
    .filter(({ kind }) => kind === "tools")
    .flatMap(({ content }) => content.map((tool) => tool.function.name));

describe("search, visit and calculator", () => {
  test("answer a research question from a folder of documents", async () => {
    const work = prepared(
      DOCUMENTS,
      question(
        "river",
        [
          ["search", { query: "capital of Germany" }],
          ["visit", { document: "{{search.results.0.id}}" }],
          ["visit", { document: "nowhere" }],
        ],
        "Spree",
      ),
    );
    expect(await work.run(multi("--corpus", "docs", "--eval"))).toMatchObject({ code: 0, stderr: "" });
    const [line] = work.records<Line>("out/iter1.jsonl");
    const [found, visited, missing] = resultsOf(line as Line).map((text) => JSON.parse(text));
    expect(found.results[0]).toMatchObject({ id: "berlin.md", title: "Berlin", page: 1, pages: 1 });
    expect(visited).toMatchObject({ page: 1, pages: 1, text: expect.stringContaining("The Spree flows") });
    expect(missing.error).toContain('There is no document "nowhere"');
    expect(line).toMatchObject({ domains: ["corpus"], metadata: { tool_errors: [expect.any(String)] } });
    const scores = work.records<{ check: string; pass: boolean | null; reason: string }>("out/scores.jsonl");
    expect(scores.find(({ check }) => check === "state")).toMatchObject({
      pass: null,
      reason: expect.stringContaining("no state"),
    });
    expect(scores.find(({ check }) => check === "answer")).toMatchObject({ pass: true });
    expect((await work.run(["replay", "out"])).stdout).toContain("3 calls made again: all agree");
  });

  test("are chosen by a dataset's tools, as the original system writes it; other names are known or refused", async () => {
    const calculation = question("sum", [["calculator", { expression: "6 * 7" }]]);
    const work = prepared(DOCUMENTS, calculation);
    const config = (dataset: string) =>
      work.write(
        "run.yml",
        `agent_model: scripted/agent\nmax_turns: 1\ncorpus: docs\ndatasets: {q: {path: questions.jsonl, ${dataset}}}\n`,
      );
    const run = ["run", "--config", "run.yml", "--output-dir", "out", "--quiet"];
    config("tools: [calculator]");
    expect(await work.run(run)).toMatchObject({ code: 0, stderr: "" });
    expect(offered(work)).toEqual(["calculator"]);
    expect(resultsOf(work.records<Line>("out/trajectories/q.jsonl")[0] as Line)).toEqual([
      '{"expression":"6 * 7","result":42}',
    ]);
    for (const [tools, names] of [
      ["tools: [search]", ["search"]],
      ["tools: [visit, calculator]", ["visit", "calculator"]],
      ["mode: positive", ["search", "visit"]],
    ] as const) {
      config(tools);
      work.remove("out");
      expect((await work.run(run)).code).toBe(0);
      expect(offered(work)).toEqual(names);
    }
    work.remove("out");
    config("tools: [calculatr]");
    expect(await work.run(run)).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/run.yml:4:.*did you mean "calculator"/),
    });
    work.write(
      "run.yml",
      "agent_model: scripted/agent\nmax_turns: 1\ndatasets: {q: {path: questions.jsonl, tools: [search]}}\n",
    );
    expect(await work.run(run)).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/run.yml:3:.*needs documents: corpus/),
    });
  });

  test("a question set gets no tools but those that are named, whatever it is called", async () => {
    const work = prepared({ ...DOCUMENTS, "StudentHealthServices.jsonl": JSON.stringify(question("x", [])) });
    const run = (...more: string[]) =>
      work.run([
        "multi",
        "--input",
        "StudentHealthServices.jsonl",
        "--output",
        "out",
        "--agent-model",
        "scripted/agent",
        ...more,
      ]);
    expect((await run("--quiet")).code).toBe(0);
    expect(offered(work)).toEqual([]);
    work.remove("out");
    expect((await run("--quiet", "--corpus", "docs")).code).toBe(0);
    expect(offered(work)).toEqual(["search", "visit"]);
  });

  test("come next to a domain of a folder, whose state is still compared", async () => {
    const work = prepared(DOCUMENTS);
    work.write(
      "run.yml",
      "bundled: true\nlimit: 2\neval: true\ndatasets: {StudentHealthServices: {corpus: docs}, Library: {mcp_domain: StudentHealthServices}}\n",
    );
    expect(await work.run(["run", "--config", "run.yml", "--output-dir", "out", "--quiet"])).toMatchObject({
      code: 0,
      stderr: "",
    });
    const scores = work.records<{ dataset: string; check: string; pass: boolean | null }>("out/scores.jsonl");
    const passed = (dataset: string) =>
      scores
        .filter((score) => score.dataset === dataset && score.check !== "answer")
        .map(({ check, pass }) => `${check} ${pass}`);
    expect(passed("StudentHealthServices").filter((each) => each === "state true")).toHaveLength(2);
    expect(passed("StudentHealthServices").sort()).toEqual(passed("Library").sort());
    expect(offered(work)).toEqual(expect.arrayContaining(["search", "visit"]));
  });

  test.each([
    ["missing", {}, "nowhere", /^There is no corpus nowhere$/m],
    ["empty", { "empty/.keep": "" }, "empty", /The corpus empty has no text/],
    ["binary", { "bin/a.txt": "\0\0PNG" }, "bin", /The corpus bin is not text in UTF-8/],
  ])(
    "a corpus that is %s stops the command in one sentence, and nothing is written",
    async (_, files, path, message) => {
      const work = prepared(files, question("x", []));
      const { code, stderr } = await work.run(multi("--corpus", path));
      expect([code, stderr.trim().split("\n").length]).toEqual([2, 1]);
      expect(stderr).toMatch(message);
      expect(work.has("out")).toBe(false);
    },
  );

  test("a corpus that changed since the run is drift, and is told", async () => {
    const work = prepared(DOCUMENTS, question("x", [["search", { query: "Seine" }]]), question("y", []));
    await work.run(multi("--corpus", "docs", "--limit", "1"));
    work.write("docs/more.txt", "The Seine again.");
    expect(await work.run(multi("--corpus", "docs"))).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("domain content changed"),
    });
    const { stderr } = await work.run(["replay", "out"]);
    expect(stderr).toContain("changed since the run");
  });
});

describe.runIf(await havePython())("plain functions", () => {
  test("recorded calls are never made again: not after a kill, nor by replay, eval or export", async () => {
    const work = prepared(
      { hold: "" },
      question("a", [
        ["note", { text: "first" }],
        ["note", { text: "second" }],
        ["slow", { text: "third" }],
        ["note", { text: "fourth" }],
      ]),
    );
    work.write("my_tools.py", pythonTools(work));
    const made = () => (work.has("calls") ? work.read("calls").trim().split("\n") : []);
    const { child, finished } = work.start(multi("--tools", "my_tools.py", "--eval"));
    while (!made().includes("third")) await new Promise((resolve) => setTimeout(resolve, 20));
    child.kill("SIGKILL");
    await finished;
    rmSync(join(work.path, "hold"));
    expect((await work.run(["resume", "out", "--quiet"])).code).toBe(0);
    // the third was in flight: nobody knows its answer
    const all = ["first", "second", "third", "third", "fourth"];
    expect(made()).toEqual(all);
    const [line] = work.records<Line>("out/iter1.jsonl");
    expect(resultsOf(line as Line)).toEqual(['{"lines": 1}', '{"lines": 2}', "done", '{"lines": 5}']);
    expect((await work.run(["replay", "out"])).stdout).toContain("0 calls made again, 4 trusted, not executed");
    expect(await work.run(["eval", "out", "--force", "--quiet"])).toMatchObject({ code: 0 });
    expect((await work.run(["export", "out", "--format", "openai", "--out", "data", "--include-scripted"])).code).toBe(
      0,
    );
    expect(made()).toEqual(all);
    const states = work
      .records<{ check: string; pass: null; reason: string }>("out/scores.jsonl")
      .filter(({ check }) => check === "state");
    expect(states[0]).toMatchObject({ pass: null, reason: "not checkable: its tools have no state" });
    work.remove("my_tools.py");
    const gone = await work.run(["eval", "out", "--force", "--quiet"]);
    expect([gone.code, gone.stderr]).toEqual([0, expect.stringContaining("There is no file my_tools.py")]);
  });

  test("a run of Python, TypeScript, corpus and MCP servers is one toolbox; clashing names get their server's prefix", async () => {
    const ask = (name: string, args: object, id: string): ModelAnswer =>
      completion(
        { content: null, tool_calls: [{ id, type: "function", function: { name, arguments: JSON.stringify(args) } }] },
        {},
        "tool_calls",
      );
    const server = await serveModel(
      ask("c__search", { query: "Spree" }, "1"),
      ask("w__search", { query: "Spree", limit: 2 }, "2"),
      ask("shout", { text: "hi" }, "3"),
      ask("visit", { document: "berlin.md" }, "4"),
      ask("shoot", {}, "5"),
      completion({ content: "Spree" }),
    );
    onTestFinished(() => server.close());
    const work = prepared(DOCUMENTS, { id: "q", question: "Which river?", answer: "Spree" });
    work.write(
      "web.py",
      'def search(query: str, limit: int = 3) -> list:\n    """Searches the web."""\n    return [query] * limit\n',
    );
    work.write(
      "text.ts",
      "/** Says it loudly. */\nexport const shout = (text: string): string => text.toUpperCase();\n",
    );
    work.write("mcp.json", JSON.stringify({ mcpServers: { desk: { command: process.execPath, args: [SERVER] } } }));
    work.write("models.yml", `models:\n  served: {provider: openai, api_base: "${server.baseUrl}"}\n`);
    const flags = [
      "--tools",
      "web.py,text.ts",
      "--corpus",
      "docs",
      "--mcp",
      "mcp.json",
      "--models-config",
      "models.yml",
    ];
    const command = ["multi", "--input", "questions.jsonl", "--output", "out", "--rollouts", "1", "--quiet", ...flags];
    const { code, stderr } = await work.run([...command, "--agent-model", "openai/served"], {
      env: { OPENAI_API_KEY: "none" },
    });
    expect([code, stderr]).toEqual([0, ""]);
    const tools = server.received[0]?.body.tools as {
      function: { name: string; description: string; parameters: JsonObject };
    }[];
    const names = tools.map((tool) => tool.function.name);
    expect(names).toEqual(expect.arrayContaining(["w__search", "shout", "c__search", "visit"]));
    expect(names.length).toBeGreaterThan(4); // the MCP server's are there as well
    expect(tools.find((tool) => tool.function.name === "w__search")?.function).toMatchObject({
      description: "Searches the web.",
      parameters: { required: ["query"] },
    });
    const [line] = work.records<Line>("out/iter1.jsonl");
    const results = resultsOf(line as Line);
    expect(results[0]).toContain("berlin.md");
    expect(results.slice(1, 3)).toEqual(['["Spree", "Spree"]', "HI"]);
    expect(results[3]).toContain("capital of Germany");
    expect(results[4]).toContain('did you mean \\"shout\\"');
    expect(line?.domains).toEqual(["desk", "web", "text", "corpus"]);
    expect((await work.run(["replay", "out"])).stdout).toMatch(/calls made again, 2 trusted/);
  });

  test("with isolation: process, functions in TypeScript run in one of their own, and are not called again either", async () => {
    const work = prepared(
      {},
      question("a", [
        ["count", {}],
        ["count", {}],
        ["end", {}],
        ["count", {}],
      ]),
    );
    const log = join(work.path, "calls");
    work.write(
      "counting.ts",
      `import { appendFileSync, readFileSync } from "node:fs";
/** Counts. */
export function count() { appendFileSync(${JSON.stringify(log)}, "x"); return { pid: process.pid, n: readFileSync(${JSON.stringify(log)}, "utf8").length }; }
/** Ends once. */
export function end() { appendFileSync(${JSON.stringify(log)}, "e"); if (readFileSync(${JSON.stringify(log)}, "utf8").length === 3) process.exit(1); return "alive"; }
`,
    );
    work.write(
      "run.yml",
      "agent_model: scripted/agent\nmax_turns: 1\nisolation: process\ndatasets: {q: {path: questions.jsonl, tool_files: [counting.ts]}}\n",
    );
    const { code, stderr } = await work.run(["run", "--config", "run.yml", "--output-dir", "out", "--quiet"]);
    expect([code, stderr]).toEqual([0, ""]);
    const results = resultsOf(work.records<Line>("out/trajectories/q.jsonl")[0] as Line);
    expect(results[2]).toBe("alive");
    const counts = [results[0], results[1], results[3]].map((text) => JSON.parse(text as string));
    expect(counts.map(({ n }) => n)).toEqual([1, 2, 5]);
    expect(counts[2].pid).not.toBe(counts[0].pid);
  });

  test.each([
    ["nothing.py", undefined, /There is no file nothing\.py/],
    ["folder", {}, /folder is a folder, not a file of functions/],
    ["data.json", "{}", /data\.json: a file of tools is Python, TypeScript or JavaScript/],
    ["bad.py", "def f(*a): pass\n", /bad\.py:1: the function f takes \*a/],
    ["none.py", "x = 1\n", /none\.py: has no functions/],
    ["bad.ts", "export const f = (a: Set<string>) => a;\n", /bad\.ts:1: f: Set<…> cannot be read/],
  ])("%s is refused by multi and check with file and line, and nothing is written", async (file, text, message) => {
    const work = prepared({}, question("x", []));
    if (typeof text === "string") work.write(file, text);
    else if (text) work.write(`${file}/x`, "");
    const { code, stderr } = await work.run(multi("--tools", file));
    expect([code, stderr]).toEqual([2, expect.stringMatching(message)]);
    expect(work.has("out")).toBe(false);
    work.write(
      "run.yml",
      `agent_model: scripted/agent\nmax_turns: 1\ndatasets: {q: {path: questions.jsonl, tool_files: [${file}]}}\n`,
    );
    const checked = await work.run(["check", "run.yml"]);
    expect([checked.code, checked.stdout]).toEqual([2, expect.stringMatching(message)]);
  });

  test("check loads functions and describes them, and calls none", async () => {
    const work = prepared(
      DOCUMENTS,
      question("x", [
        ["note", { text: "a" }],
        ["nothing", {}],
      ]),
    );
    work.write("my_tools.py", `${pythonTools(work)}\ndef bare():\n    note("bare")\n`);
    work.write(
      "run.yml",
      "agent_model: scripted/agent\nmax_turns: 1\ncorpus: docs\ntool_files: [my_tools.py]\ndatasets: {q: {path: questions.jsonl}}\n",
    );
    const { code, stdout } = await work.run(["check", "run.yml"]);
    expect(code).toBe(0);
    expect(stdout).toContain('the tool "bare" has no description');
    expect(stdout).toContain('names the tool "nothing", which is not there');
    expect(stdout).toContain("1 queries, 5 tools, 0 of them called: 0 errors");
    expect(work.has("calls")).toBe(false);
  });

  test("functions that changed since the run are drift", async () => {
    const work = prepared({}, question("x", [["note", { text: "a" }]]), question("y", []));
    work.write("my_tools.py", pythonTools(work));
    await work.run(multi("--tools", "my_tools.py", "--limit", "1"));
    appendFileSync(join(work.path, "my_tools.py"), "\n# changed\n");
    const again = await work.run(multi("--tools", "my_tools.py"));
    expect([again.code, again.stderr]).toEqual([2, expect.stringContaining("domain content changed")]);
  });

  test("a setup cannot call a function: it would be called for every attempt", async () => {
    const work = prepared({}, { ...question("x", []), setup: [{ name: "note", arguments: { text: "a" } }] });
    work.write("my_tools.py", pythonTools(work));
    const { code, stderr } = await work.run(multi("--tools", "my_tools.py"));
    expect([code, stderr]).toEqual([2, expect.stringMatching(/questions.jsonl:1: .*note is a function without state/)]);
    expect(work.has("calls")).toBe(false);
  });
});
