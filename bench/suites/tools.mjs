// What a tool call costs through each kind of server, and what a thousand open sessions of a Python server hold.
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { bundledFolder, loadDomain } from "../../dist/domains/index.js";
import { McpHub, openPython, PythonPool, Toolbox } from "../../dist/tools/index.js";
import { heapUsed, report, round, timed } from "../support/measure.mjs";
import { end } from "../support/processes.mjs";

const temporary = mkdtempSync(join(tmpdir(), "rollout-bench-"));
process.on("exit", () => rmSync(temporary, { recursive: true, force: true }));
const program = fileURLToPath(new URL("../../bin/rollout.js", import.meta.url));

/** Calls in groups of so many at once; each group's calls go to different environments, as in a run. */
async function measure(environments, call, calls) {
  const atOnce = environments.length;
  const { wallMs, cpuMs } = await timed(async () => {
    for (let done = 0; done < calls; done += atOnce) {
      await Promise.all(
        environments.map((environment) => environment.call({ ...call, id: `c${done}` }, new AbortController().signal)),
      );
    }
  });
  return {
    "calls/s": round(calls / (wallMs / 1000), 0),
    "ms a call": round(wallMs / calls, 4),
    "CPU ms a call (ours)": round(cpuMs / calls, 4),
  };
}

async function rowsFor(what, open, call, calls) {
  const rows = [];
  for (const atOnce of [1, 100]) {
    const environments = await Promise.all(Array.from({ length: atOnce }, (_, seed) => open(seed)));
    await measure(environments, call, atOnce * 10);
    rows.push({
      what,
      "at once": atOnce,
      ...(await measure(environments, call, atOnce === 1 ? Math.ceil(calls / 4) : calls)),
    });
    await Promise.all(environments.map((environment) => environment.close()));
  }
  return rows;
}

const domain = await loadDomain(bundledFolder().find(["StudentAcademicPortal"]));
const call = { id: "c", name: "get_section_details", arguments: JSON.stringify({ section_id: "NURS-310-26FA-1" }) };
const rows = await rowsFor("in process", (seed) => domain.openEnvironment(seed), call, 50_000);

const server = `
import copy, json, os
class DeskServer:
    def __init__(self, domain_name):
        with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "rows.json")) as f: self._rows = json.load(f)
        self._sessions = {}
    def _get_session(self, session_id):
        if session_id not in self._sessions:
            self._sessions[session_id] = type("S", (), {"databases": {"Row": copy.deepcopy(self._rows)}})()
        return self._sessions[session_id]
    def invoke(self, session_id, tool_name, **kw):
        s = self._get_session(session_id)
        return {"row": s.databases["Row"][kw.get("n", 0)]}
`;
function writeServer(name, rowCount) {
  const folder = join(temporary, name);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "Desk.py"), server);
  const record = (n) => ({ row_id: `R${n}`, name: `Somebody number ${n}`, city: "Somewhere", notes: "x".repeat(200) });
  writeFileSync(join(folder, "rows.json"), JSON.stringify(Array.from({ length: rowCount }, (_, n) => record(n))));
  return join(folder, "Desk.py");
}
const pythonDomain = (file) => ({
  toolbox: new Toolbox([
    { server: "Desk", tools: [{ name: "get_row", description: "", parameters: { type: "object" }, readOnly: true }] },
  ]),
  servers: [{ name: "Desk", file }],
  domainName: "Desk",
});
const getRow = { id: "c", name: "get_row", arguments: '{"n": 3}' };
const pool = new PythonPool({ environment: process.env });
const small = pythonDomain(writeServer("small", 20));
rows.push(...(await rowsFor("Python bridge", (seed) => openPython(small, pool, seed), getRow, 20_000)));
await pool.close();

const stdio = { command: process.execPath, args: [program, "mcp", "serve", "StudentAcademicPortal"] };
const stdioHub = new McpHub({
  servers: { portal: { ...stdio, isolation: "shared" } },
  variables: process.env,
  baseFolder: temporary,
});
rows.push(...(await rowsFor("MCP over stdio, one shared server", (seed) => stdioHub.open(seed), call, 10_000)));
await stdioHub.close();

const served = spawn(process.execPath, [...stdio.args, "--http", "0"], { stdio: ["ignore", "ignore", "pipe"] });
const url = await new Promise((resolve) =>
  served.stderr.on("data", (chunk) => resolve(/http:\/\/\S+/.exec(String(chunk))[0])),
);
const httpHub = new McpHub({
  servers: { portal: { url, isolation: "shared" } },
  variables: process.env,
  baseFolder: temporary,
});
rows.push(...(await rowsFor("MCP over HTTP, one shared server", (seed) => httpHub.open(seed), call, 4_000)));
await httpHub.close();
await end(served);

const sessions = 1000;
const large = pythonDomain(writeServer("large", 11_000));
const bigPool = new PythonPool({ environment: process.env });
const before = await heapUsed();
const environments = [];
for (let seed = 0; seed < sessions; seed++) {
  const environment = await openPython(large, bigPool, seed);
  await environment.call(getRow, new AbortController().signal);
  environments.push(environment);
}
const ours = ((await heapUsed()) - before) / sessions;
const residentKb = (pid) =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? Number.NaN);
const held =
  process.platform === "linux"
    ? bigPool
        .processIds()
        .map(residentKb)
        .reduce((sum, kb) => sum + kb, 0) / sessions
    : Number.NaN;
await Promise.all(environments.map((environment) => environment.close()));
await bigPool.close();

report([
  { title: "Tool calls", rows },
  {
    title: `${sessions} open sessions of a Python server with a ${round(readFileSync(join(temporary, "large", "rows.json")).length / 2 ** 20, 1)} MB database`,
    rows: [
      {
        "held by this process, KB a session": round(ours / 1024, 1),
        "held by the Python processes, KB a session": round(held, 0),
      },
    ],
  },
]);
