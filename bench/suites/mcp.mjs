// What keeping rollouts apart costs on MCP servers: CPU and memory, ours and the servers', for each kind of isolation and
// several numbers of workers, next to one server that all share. Models take the longer the more workers there are, so
// that all of them are in the middle of a rollout at once. Quick is a few workers only.
import { fork, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { report, round } from "../support/measure.mjs";
import { childrenOf, cpuMsOf, end, watchSizes } from "../support/processes.mjs";

const WORKERS = process.env.BENCH_QUICK === "1" ? [16] : [16, 64, 256];
const LATENCY_MS_PER_WORKER = 3;

const fileOf = (name) => fileURLToPath(new URL(`../support/${name}`, import.meta.url));
const SERVER = fileOf("notes_server.py");
const child = { command: "python3", args: ["-S", SERVER] };
const KINDS = {
  "shared (the floor)": { ...child, isolation: "shared" },
  "pool, reset_tool": { ...child, isolation: "pool", reset_tool: "reset" },
  pool: { ...child, isolation: "pool" },
  fresh: { ...child, isolation: "fresh" },
  "HTTP sessions": { isolation: "session" },
};

const step = (name, args = {}) => ({ calls: [{ name, arguments: args }] });
const plan = [
  { steps: [step("add", { text: "one" }), step("add", { text: "two" }), step("list")], say: "Noted." },
  { user: "One more.", steps: [step("add", { text: "three" }), step("list")], say: "Noted, too." },
  { user: "Thanks. ###STOP###" },
];
const query = { id: "q", messages: [{ role: "user", content: "Two notes, please." }], task_info: { plan } };

const temporary = mkdtempSync(join(tmpdir(), "rollout-bench-"));
process.on("exit", () => rmSync(temporary, { recursive: true, force: true }));
const queries = join(temporary, "queries.jsonl");
writeFileSync(queries, `${JSON.stringify(query)}\n`);

const rows = [];
for (const workers of WORKERS) {
  let floor;
  for (const [isolation, server] of Object.entries(KINDS)) {
    const rollouts = 2 * workers;
    const used = await measure(server, { workers, rollouts });
    const cpuMs = (used.cpuMs + used.serversCpuMs) / rollouts;
    floor ??= cpuMs;
    rows.push({
      isolation,
      workers,
      "CPU ms a rollout (ours)": round(used.cpuMs / rollouts, 1),
      "(servers)": round(used.serversCpuMs / rollouts, 1),
      "x shared": round(cpuMs / floor, 1),
      "peak MB (ours)": round(used.peakMb, 0),
      "(servers, what they share in each)": round(used.servers.mb, 0),
      "servers at once": used.servers.processes,
      seconds: round(used.wallMs / 1000, 1),
    });
  }
}
report([{ title: "MCP servers: two rollouts of 5 calls for each worker", rows }]);

async function measure(server, { workers, rollouts }) {
  const served = server.command === undefined ? await serveOverHttp() : undefined;
  const notes = served ? { ...server, url: served.url } : server;
  const folder = mkdtempSync(join(temporary, "run-"));
  const datasets = { notes: { path: queries, mcpServers: { notes } } };
  const config = { output_dir: join(folder, "out"), max_workers: workers, rollouts, datasets };
  const asked = { config, folder, plan, latencyMs: workers * LATENCY_MS_PER_WORKER };
  const before = served && cpuMsOf(served.pid);
  const run = fork(fileOf("mcp-run-process.mjs"), [JSON.stringify(asked)]);
  const watched = watchSizes(() => (served ? [served.pid] : childrenOf(run.pid)));
  const ended = once(run, "exit");
  const [used] = await Promise.race([once(run, "message"), ended]);
  if (used?.finished !== rollouts) throw new Error(`not all rollouts were made: ${JSON.stringify(used)}`);
  await ended;
  const servers = watched();
  const serversCpuMs = served ? cpuMsOf(served.pid) - before : used.serversCpuMs;
  await served?.end();
  rmSync(folder, { recursive: true });
  return { ...used, serversCpuMs, servers };
}

async function serveOverHttp() {
  const server = spawn("python3", ["-S", SERVER, "--http"], { stdio: ["ignore", "pipe", "inherit"] });
  const [line] = await once(server.stdout, "data");
  return { pid: server.pid, url: String(line).trim(), end: () => end(server) };
}
