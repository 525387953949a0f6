// The promise of docs/architecture.md: a dialect, a stop condition, a check, an export format, a tool format and a domain
// are one file each, plus its name in the list next to it. They are added to a copy of the built program, and all of them are run.
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { afterAll, expect, test } from "vitest";
import type { Trajectory } from "../src/core/index.ts";

const folder = mkdtempSync(join(tmpdir(), "rollout-one-file-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const DIALECT = `
export const echo = {
  name: "echo",
  habits: [{ habits: { style: "none", sendBack: false, field: "thought" } }],
  createClient: (model) => ({
    id: model.id,
    complete: async ({ messages, tools }) => {
      const usage = { inputTokens: 1, outputTokens: 1, cachedTokens: 0, reasoningTokens: 0, costUsd: 0 };
      const isFirst = messages.length === 1;
      const toolCalls = isFirst ? [{ id: "a", name: tools[0].name, arguments: "{}" }] : [];
      const content = isFirst ? "" : "You are very welcome: it is " + messages.at(-1).content;
      return { content, toolCalls, usage, finish: isFirst ? "tool-calls" : "stop" };
    },
  }),
};`;

const STOP_CONDITION = `
import { z } from "zod";
export const maxWords = {
  key: "monitor_max_words",
  schema: z.int().positive().optional().describe("stop when the agent has said more words than this"),
  reasons: { too_wordy: false },
  create: (limit) => ({ entries, turnEnded }) => {
    const words = entries.at(-1).content.split(" ").length;
    return turnEnded && words > limit ? { stopReason: "too_wordy", blame: "agent", message: words + " words" } : undefined;
  },
};`;

const CHECK = `
export const politeCheck = {
  name: "polite",
  version: 1,
  run: ({ dialogue }) => {
    const pass = dialogue.agent.some(({ text }) => text.includes("welcome"));
    return { pass, score: pass ? 1 : 0, reason: pass ? "said welcome" : "said no such thing" };
  },
};`;

const FORMAT = `
export const plain = {
  name: "plain",
  container: "jsonl",
  columns: { text: "string" },
  reasoning: { default: "drop", field: false },
  write: ({ messages }) => ({ row: { text: messages.map(({ role, content }) => role + ": " + content).join("\\n") } }),
  read: () => ({ dialogue: { system: undefined, tools: [], messages: [] }, problems: [] }),
};`;

const TOOL_FORMAT = `
export const shout = {
  describe: (tools) => "TOOLS! " + JSON.stringify(tools),
  write: ({ content, toolCalls = [] }) => [content, ...toolCalls.map((call) => "CALL! " + JSON.stringify(call))].join("\\n"),
  writeResults: (results) => results.map((result) => "RESULT! " + result).join("\\n"),
  read: (text) => ({
    content: text.replace(/^CALL! .*$/gm, "").trim(),
    calls: [...text.matchAll(/^CALL! (.*)$/gm)].map(([, json]) => JSON.parse(json)),
    faults: [],
  }),
  toolsOff: "NO TOOLS!",
  stop: ["RESULT!"],
  readTools(system) {
    const [before, tools] = system.split("TOOLS! ");
    return tools && { system: before, tools: JSON.parse(tools) };
  },
  readResults: (text) => ({ results: text.split("\\n").map((line) => line.replace("RESULT! ", "")), rest: "" }),
};`;

const SERVER = `export default { today: "2026-01-01", reads: { tell_time: () => ({ time: "noon" }) }, writes: {} };\n`;
const TOOLS = [{ type: "function", function: { name: "tell_time", description: "", parameters: { type: "object" } } }];

const PLAN = [{ steps: [{ calls: [{ name: "tell_time", arguments: {} }] }], say: "It is {{tell_time.time}}." }];

function write(file: string, text: string): void {
  mkdirSync(dirname(join(folder, file)), { recursive: true });
  writeFileSync(join(folder, file), text);
}

/** Puts a file into a folder of the program, and its name into the list there. */
function add(file: string, text: string, list: { file: string; name: string; before: string }): void {
  write(join("dist", file), text);
  const path = join(folder, "dist", list.file);
  const source = readFileSync(path, "utf8");
  expect(source).toContain(list.before);
  const specifier = `./${file.slice(dirname(list.file).length + 1)}`;
  const named = source.replace(list.before, `${list.before}${list.name}, `);
  writeFileSync(path, `import { ${list.name} } from "${specifier}";\n${named}`);
}

function rollout(...args: string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, ["bin/rollout.js", ...args], {
    cwd: folder,
    encoding: "utf8",
  });
  return { status, stdout, stderr };
}

test("a dialect, a stop condition, a check, a format, a tool format and a domain are one file each", () => {
  for (const part of ["bin", "dist", "package.json"]) cpSync(part, join(folder, part), { recursive: true });
  symlinkSync(resolve("node_modules"), join(folder, "node_modules"));
  add("models/dialects/echo.js", DIALECT, {
    file: "models/dialects/index.js",
    name: "echo",
    before: "const DIALECTS = [",
  });
  add("dialogue/stop-conditions/max-words.js", STOP_CONDITION, {
    ...{ file: "dialogue/stop-conditions/index.js", name: "maxWords", before: "STOP_CONDITIONS = [\n    " },
  });
  add("scoring/checks/polite.js", CHECK, {
    ...{ file: "scoring/check-list.js", name: "politeCheck", before: "stateCheck,\n        " },
  });
  add("export/formats/plain.js", FORMAT, {
    file: "export/formats/index.js",
    name: "plain",
    before: "const ALL = [\n    ",
  });
  add("models/tool-format/shout.js", TOOL_FORMAT, {
    file: "models/tool-format/formats.js",
    name: "shout",
    before: "TEXT_FORMATS = { ",
  });
  write("data/mcp_servers/Clock.js", SERVER);
  write("data/tool_lists/Clock.json", JSON.stringify(TOOLS));
  write(
    "data/queries/Clock.jsonl",
    `${JSON.stringify({ id: "q", messages: [{ role: "user", content: "What time is it?" }], task_info: { plan: PLAN } })}\n`,
  );
  const model = "{provider: lab, api_base: 'http://127.0.0.1:9/v1', dialect: echo}";
  const parties = "agent_model: lab/echo\nuser_model: lab/echo\n";
  write("run.yml", `base_path: data\n${parties}models: {echo: ${model}}\nmonitor_max_words: 3\ndatasets: [Clock]\n`);

  expect(rollout("run", "--config", "run.yml", "--quiet")).toEqual({ status: 0, stdout: "", stderr: "" });
  const record = JSON.parse(readFileSync(join(folder, "outputs/run/trajectories/Clock.jsonl"), "utf8")) as Trajectory;
  expect(record.metadata).toMatchObject({ stop_reason: "too_wordy", blame: "agent", tool_call_count: 1 });
  expect(record.messages.at(-1)?.content).toBe('You are very welcome: it is {"time":"noon"}');

  const domain = ["single", "--domains", "Clock", "--base-path", "data", "--max-turns", "1", "--quiet"];
  const played = rollout(...domain, "--agent-model", "scripted/agent", "--tool-format", "shout");
  expect(played).toEqual({ status: 0, stdout: "", stderr: "" });
  const text = JSON.parse(readFileSync(join(folder, "outputs/single/trajectories/Clock.jsonl"), "utf8")) as Trajectory;
  expect(text.metadata).toMatchObject({ tool_format: "shout", tool_call_count: 1, tool_error_count: 0 });
  expect(text.messages.at(-1)?.content).toBe("It is noon.");

  const scored = rollout("eval", "outputs/run", "--check", "polite");
  expect([scored.status, scored.stderr]).toEqual([0, ""]);
  expect(scored.stdout).toMatch(/polite +1 +0 +0/);

  const exported = rollout(
    "export",
    "outputs/run",
    "--format",
    "plain",
    "--stop-reason",
    "too_wordy",
    "--out",
    "data.jsonl",
  );
  expect([exported.status, exported.stderr]).toEqual([0, ""]);
  expect(JSON.parse(readFileSync(join(folder, "data.jsonl"), "utf8"))).toEqual({
    id: "q",
    query_id: "q",
    text: 'user: What time is it?\nassistant: \ntool: {"time":"noon"}\nassistant: You are very welcome: it is {"time":"noon"}',
  });
  expect(rollout("run", "--config", "run.yml", "--dry-run").status).toBe(0);
});
