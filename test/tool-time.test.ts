// Time limits hold for every kind of tool: a call that never ends ends its rollout, and no other.
import { expect, test } from "vitest";
import { type WorkFolder, workFolder } from "./support/cli.ts";
import { FAULTY_SERVER } from "./support/mcp/support.ts";
import { havePython } from "./support/python/support.ts";
import { call, lines, planQuery } from "./support/shop-dataset.ts";

type Dataset = { name: string; file?: string; code?: string; config?: string };

const server = (hang: string) =>
  `export default { today: "2026-02-02", reads: {}, writes: { hang: ${hang}, fine: () => ({ ok: true }) } };\n`;
const PYTHON = `
import time
class PythonDeskServer:
    def __init__(self, domain_name):
        pass
    def invoke(self, session_id, tool_name, **arguments):
        if tool_name == "hang":
            time.sleep(600)
        return {"ok": True}
`;

const IN_PROCESS: Dataset[] = [
  { name: "PlainDesk", file: "PlainDesk.mjs", code: server("() => new Promise(() => {})") },
  { name: "TypedDesk", file: "TypedDesk.ts", code: server("(): Promise<never> => new Promise(() => {})") },
];
// they block their process: one by working, the other by waiting
const LOOPING: Dataset[] = [{ name: "PlainDesk", file: "PlainDesk.mjs", code: server("() => { for (;;); }") }];
const BLOCKING: Dataset[] = [
  {
    name: "TypedDesk",
    file: "TypedDesk.ts",
    code: server("(_: unknown) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)"),
  },
];
const OVER_PYTHON: Dataset[] = (await havePython())
  ? [{ name: "PythonDesk", file: "PythonDesk.py", code: PYTHON }]
  : [];
const OVER_MCP: Dataset[] = [
  { name: "Faulty", config: `    mcpServers: {faulty: {command: ${process.execPath}, args: [${FAULTY_SERVER}]}}\n` },
];

// What hangs takes all of it; what stands beside it, and starts a process first, has to be done by then on a busy machine.
const SECONDS = 15;

test.each([
  ["tool_timeout", "infrastructure"],
  ["max_rollout_seconds", "time_limit"],
])("%s: a rollout whose call hangs ends as %s, and the one beside it is done", async (limit, stop) => {
  const play = async (datasets: Dataset[], more = "") => {
    const work = workFolder();
    writeRun(work, datasets, `${limit}: ${SECONDS}\n${more}`);
    return { work, datasets, finished: await work.run(["run", "--config", "run.yml"]) };
  };
  const runs = [
    play([...IN_PROCESS, ...OVER_PYTHON]),
    play(LOOPING, "isolation: process\n"),
    play(BLOCKING, "isolation: process\n"),
    play(OVER_MCP),
  ];
  for (const { work, datasets, finished } of await Promise.all(runs)) {
    const { code, stdout, stderr } = finished;
    expect([code, stdout + stderr]).toEqual([stop === "infrastructure" ? 3 : 0, expect.any(String)]);
    const failures = stop === "infrastructure" ? work.records("run/failures.jsonl") : [];
    expect(failures).toHaveLength(stop === "infrastructure" ? datasets.length : 0);
    for (const { name } of datasets) {
      const ended = new Map(work.records(`run/trajectories/${name}.jsonl`).map((record) => [record.id, record]));
      expect([name, ended.get("q-fine")?.metadata.stop_reason]).toEqual([name, "user_stop"]);
      if (stop === "infrastructure") {
        expect(failures).toContainEqual(expect.objectContaining({ dataset: name, id: "q-hang", boundary: "tool" }));
        continue;
      }
      const hung = ended.get("q-hang");
      expect([name, hung?.metadata]).toMatchObject([name, { stop_reason: "time_limit", tool_call_count: 2 }]);
      expect(hung?.messages.filter(({ role }) => role === "tool")).toHaveLength(1);
    }
    if (stop === "infrastructure" || datasets === OVER_MCP) continue;
    const replayed = await work.run(["replay", "run"]);
    expect([replayed.code, replayed.stdout + replayed.stderr]).toEqual([0, expect.stringContaining("all agree")]);
  }
});

/** Two rollouts for each dataset: one makes a call that ends and one that hangs, the other two that end. */
function writeRun(work: WorkFolder, datasets: Dataset[], config: string): void {
  for (const { name, file, code } of datasets) {
    const fine = file === undefined ? "add" : "fine";
    const plan = (tool: string) => [
      { steps: [call(fine, {}), call(tool, {})], say: "Done." },
      { user: "Thanks. ###STOP###" },
    ];
    const queries = [planQuery("q-hang", plan("hang")), planQuery("q-fine", plan(fine))];
    work.write(`data/queries/${name}.jsonl`, lines(queries));
    if (file === undefined) continue;
    const spec = (tool: string) => ({ type: "function", function: { name: tool, parameters: { type: "object" } } });
    work.write(`data/tool_lists/${name}.json`, JSON.stringify([spec("hang"), spec("fine")]));
    work.write(`data/mcp_servers/${file}`, code ?? "");
  }
  const entries = datasets.map(
    ({ name, config: own = "" }) => `  ${name}:\n    path: data/queries/${name}.jsonl\n${own}`,
  );
  work.write(
    "run.yml",
    `base_path: data\nagent_model: scripted/agent\nuser_model: scripted/user\noutput_dir: run\n${config}datasets:\n${entries.join("")}`,
  );
}
