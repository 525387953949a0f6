// Time limits hold for every kind of tool: a call that never ends ends its rollout, and no other.
import { expect, test } from "vitest";
import { workFolder } from "./support/cli.ts";
import { FAULTY_SERVER } from "./support/mcp/support.ts";
import { havePython } from "./support/python/support.ts";
import { call, lines, planQuery } from "./support/shop-dataset.ts";

const server = (hang: string) =>
  `export default { today: "2026-02-02", reads: {}, writes: { hang: ${hang}, fine: () => ({ ok: true }) } };\n`;
const PYTHON = `
import time
class DeskServer:
    def __init__(self, domain_name):
        pass
    def invoke(self, session_id, tool_name, **arguments):
        if tool_name == "hang":
            time.sleep(600)
        return {"ok": True}
`;

const KINDS: [kind: string, file: string, code: string, config: string][] = [
  ["JavaScript", "Desk.mjs", server("() => new Promise(() => {})"), ""],
  ["TypeScript", "Desk.ts", server("(): Promise<never> => new Promise(() => {})"), ""],
  ["JavaScript in a process", "Desk.mjs", server("() => { for (;;); }"), "isolation: process\n"],
  ["TypeScript in a process", "Desk.ts", server("(_: unknown) => { for (;;); }"), "isolation: process\n"],
  ...((await havePython()) ? [["Python", "Desk.py", PYTHON, ""] as [string, string, string, string]] : []),
  ["MCP", "", "", `    mcpServers: {faulty: {command: ${process.execPath}, args: [${FAULTY_SERVER}]}}\n`],
];

const LIMITS: [limit: string, stop: string][] = [
  ["tool_timeout", "infrastructure"],
  ["max_rollout_seconds", "time_limit"],
];
// The rollout beside the one that hangs must end in time, and a process takes seconds to start on a busy machine.
const secondsFor = (kind: string) => (kind === "JavaScript" || kind === "TypeScript" ? 5 : 10);

test.each(KINDS.flatMap((kind) => LIMITS.map((limit) => [kind[0], ...limit, kind] as const)))(
  "%s, %s: the rollout ends as %s",
  async (kind, limit, stop, [, file, code, more]) => {
    const work = workFolder();
    const fine = kind === "MCP" ? "add" : "fine";
    const plan = (tool: string) => [
      { steps: [call(fine, {}), call(tool, {})], say: "Done." },
      { user: "Thanks. ###STOP###" },
    ];
    work.write("data/queries/Desk.jsonl", lines(["hang", fine].map((tool) => planQuery(`q-${tool}`, plan(tool)))));
    if (file !== "") {
      const spec = (name: string) => ({ type: "function", function: { name, parameters: { type: "object" } } });
      work.write("data/tool_lists/Desk.json", JSON.stringify([spec("hang"), spec("fine")]));
      work.write(`data/mcp_servers/${file}`, code);
    }
    work.write(
      "run.yml",
      `base_path: data\nagent_model: scripted/agent\nuser_model: scripted/user\noutput_dir: run\n${limit}: ${secondsFor(kind)}\n${more.startsWith(" ") ? "" : more}datasets:\n  Desk:\n    path: data/queries/Desk.jsonl\n${more.startsWith(" ") ? more : ""}`,
    );
    const { code: exit, stdout, stderr } = await work.run(["run", "--config", "run.yml"]);
    expect([exit, stdout + stderr]).toEqual([stop === "infrastructure" ? 3 : 0, expect.any(String)]);
    const records = work.records("run/trajectories/Desk.jsonl");
    const ended = new Map(records.map((record) => [record.id, record]));
    expect(ended.get(`q-${fine}`)?.metadata.stop_reason).toBe("user_stop");
    if (stop === "infrastructure") {
      expect(work.records("run/failures.jsonl")).toMatchObject([{ id: "q-hang", boundary: "tool" }]);
      return;
    }
    const hung = ended.get("q-hang");
    expect(hung?.metadata).toMatchObject({ stop_reason: "time_limit", tool_call_count: 2 });
    expect(hung?.messages.filter(({ role }) => role === "tool")).toHaveLength(1);
    if (kind !== "MCP") {
      const replayed = await work.run(["replay", "run"]);
      expect([replayed.code, replayed.stdout + replayed.stderr]).toEqual([0, expect.stringContaining("all agree")]);
    }
  },
);
