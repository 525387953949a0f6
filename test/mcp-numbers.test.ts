// Numbers of an MCP dataset from query file to server to record to export, through a cut journal and a resume.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import type { RunEvent } from "../src/core/index.ts";
import { workFolder } from "./support/cli.ts";
import { lines, SCRIPTED } from "./support/shop-dataset.ts";

const SERVER = fileURLToPath(new URL("support/mcp/number_server.py", import.meta.url));
const OUTPUT = "out/trajectories/till.jsonl";
const PAID = '{"price":2.0,"id":12345678901234567890,"zero":-0.0,"most":1e400}';
const PLAN = `[{"steps":[
  {"calls":[{"name":"echo","arguments":${PAID}}]},
  {"calls":[{"name":"keep","arguments":{"again":"{{echo.got.price}}","all":"{{echo.got}}","share":[1.50]}}]},
  {"calls":[{"name":"kept","arguments":{}}]}],"say":"Paid {{echo.got.price}}."}]`.replaceAll("\n", "");
const KEPT = `{"again":2.0,"all":${PAID},"share":[1.50]}`;

test.each(["stdio", "json", "sse"])(
  "a plan's numbers reach a server over %s, again on resume, and the dataset",
  async (kind) => {
    const work = workFolder();
    work.write(
      "queries.jsonl",
      `{"id":"q","messages":[{"role":"user","content":"Pay."}],"task_info":{"plan":${PLAN}}}\n`,
    );
    const log = join(work.path, "log");
    const server =
      kind === "stdio" ? { command: "python3", args: [SERVER, "stdio", "-", log] } : { url: await serve(kind, log) };
    work.write(
      "run.yml",
      `datasets: {till: {path: queries.jsonl}}\nmcpServers: ${JSON.stringify({ till: { ...server, isolation: "fresh" } })}\n`,
    );
    const run = ["run", "--config", "run.yml", "--output-dir", "out", "--quiet", ...SCRIPTED];
    expect(await work.run(run)).toMatchObject({ code: 0, stderr: "" });
    const [record] = work.records(OUTPUT);
    expect(record?.messages.slice(1, 8)).toMatchObject([
      { tool_calls: [{ function: { name: "echo", arguments: PAID } }] },
      { content: expect.stringContaining(`"got":${PAID}`) },
      { tool_calls: [{ function: { name: "keep", arguments: KEPT } }] },
      { content: "1" },
      { tool_calls: [{ function: { name: "kept" } }] },
      { content: KEPT },
      { content: "Paid 2.0." },
    ]);

    const journal = work.records<RunEvent>("out/journal.jsonl");
    const answered = journal.findIndex(
      (event) => event.type === "entry-end" && event.entry.type === "tool-result" && event.entry.name === "keep",
    );
    work.write("out/journal.jsonl", lines(journal.slice(0, answered + 1)));
    work.remove(OUTPUT);
    expect(await work.run(["resume", "out", "--quiet"])).toMatchObject({ code: 0, stderr: "" });
    expect(work.records(OUTPUT)[0]?.messages).toEqual(record?.messages);
    expect(work.read("log")).toBe(`${KEPT}\n${KEPT}\n`);

    expect(
      await work.run(["export", "out", "--format", "openai", "--out", "rows.jsonl", "--include-scripted"]),
    ).toMatchObject({ code: 0 });
    expect(work.read("rows.jsonl")).toContain(JSON.stringify(KEPT));
    expect(work.read("rows.jsonl")).toContain(JSON.stringify(`"got":${PAID}`).slice(1, -1));
  },
);

async function serve(kind: string, log: string): Promise<string> {
  const server = spawn("python3", [SERVER, "http", kind, log], { stdio: ["pipe", "pipe", "inherit"] });
  onTestFinished(() => void server.kill());
  const [said] = await once(server.stdout, "data");
  return String(said).trim();
}
