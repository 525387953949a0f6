// A run on a queue beside the same run in one process: 1, 2 and 4 workers on this machine, with scripted models and with
// models that answer after 200 ms. What starting a command costs is left out; opening the run at each worker is not.
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import pg from "pg";
import { report, round } from "../support/measure.mjs";
import { startPostgres } from "../support/postgres.mjs";
import { childrenCpuMs, cpuMsOf, treeCpuMs } from "../support/processes.mjs";

const isQuick = process.env.BENCH_QUICK === "1";
const PROGRAM = fileURLToPath(new URL("../../bin/rollout.js", import.meta.url));
const QUERIES = 27;
/** rollouts at once, of one process or one worker */
const AT_ONCE = 16;
const FLEETS = [1, 2, 4];
const WORLDS = [
  { title: "scripted", rollouts: isQuick ? 4 : 20 },
  { title: "200 ms", rollouts: isQuick ? 3 : 12, latency: 200 },
];

const temporary = mkdtempSync(join(tmpdir(), "rollout-bench-"));
const serving = new Set();
process.on("exit", () => {
  for (const child of serving) child.kill("SIGKILL");
  rmSync(temporary, { recursive: true, force: true });
});
const postgres = await startPostgres();
const client = new pg.Client({ connectionString: postgres.url });
await client.connect();

const rows = [];
for (const world of WORLDS) {
  const models = world.latency === undefined ? undefined : await serveModels(world.latency);
  const settings = models ? settingsFor(models.url) : {};
  let one;
  for (const workers of [0, ...FLEETS]) {
    const measured = await measure(world, workers, settings);
    if (workers === 1) one = measured.perSecond;
    rows.push(rowOf(world, workers, measured, one));
  }
  await models?.stop();
}
await client.end();
await postgres.close();
report([
  { title: `A queue beside one process: ${AT_ONCE} rollouts at once in each${isQuick ? " (short runs)" : ""}`, rows },
]);

function rowOf({ title }, workers, { rollouts, perSecond, cpu, entries, seconds, bytes }, one) {
  const each = (ms) => (ms === undefined ? "" : round(ms / rollouts, 1));
  return {
    models: title,
    made: workers === 0 ? "in one process" : `by ${workers} ${workers === 1 ? "worker" : "workers"}`,
    rollouts,
    "a second": round(perSecond, 1),
    "x one worker, each": workers === 0 ? "" : round(perSecond / (one * workers)),
    "CPU ms a rollout: players": each(cpu.players),
    collector: each(cpu.collector),
    postgres: each(cpu.postgres),
    "events a second": workers === 0 ? "" : round(entries / seconds, 0),
    "kB a rollout": workers === 0 ? "" : round(bytes / rollouts / 1000, 1),
  };
}

async function measure({ title, rollouts }, workers, settings) {
  const folder = join(temporary, `${title}-${workers}`.replaceAll(" ", "-"));
  const queue = workers > 0 ? ["--queue", postgres.url] : [];
  const config = join(temporary, "run.json");
  const own = {
    datasets: ["StudentAcademicPortal"],
    bundled: true,
    rollouts,
    max_workers: AT_ONCE,
    output_dir: folder,
  };
  writeFileSync(config, JSON.stringify({ ...own, ...settings }));
  const command = ["run", "--config", config, "--quiet", ...queue];
  const players = await Promise.all(Array.from({ length: workers }, startWorker));
  const before = { postgres: treeCpuMs(postgres.pid), players: cpuOf(players), ...(await written(workers)) };
  const main = await run(command);
  const after = { postgres: treeCpuMs(postgres.pid), players: cpuOf(players), ...(await written(workers)) };
  await Promise.all(players.map((player) => player.stop()));
  // the same command once more finds nothing to do: what is left is what starting costs
  const made = main - (await run(command));
  const { seconds, count } = readJournal(folder);
  return {
    ...{ rollouts: count, seconds, perSecond: count / seconds },
    entries: after.events - before.events,
    bytes: after.bytes - before.bytes,
    cpu:
      workers === 0
        ? { players: made }
        : { players: after.players - before.players, collector: made, postgres: after.postgres - before.postgres },
  };
}

/** Events so far, and bytes of log that they and everything else took. */
async function written(workers) {
  if (workers === 0) return { events: 0, bytes: 0 };
  const { rows: found } = await client.query(
    "SELECT pg_current_wal_lsn() - '0/0'::pg_lsn AS bytes, coalesce((SELECT last_value FROM pg_sequences WHERE sequencename = 'events_seq_seq'), 0) AS events",
  );
  return { events: Number(found[0].events), bytes: Number(found[0].bytes) };
}

function readJournal(folder) {
  const events = readFileSync(join(folder, "journal.jsonl"), "utf8").trimEnd().split("\n").map(JSON.parse);
  const ends = events.filter(({ type }) => type === "rollout-end");
  if (ends.length % QUERIES !== 0) throw new Error(`${folder}: ${ends.length} rollouts`);
  const start = Date.parse(events.find(({ type }) => type === "run-start").at);
  const last = Math.max(...ends.map(({ at }) => Date.parse(at)));
  return { count: ends.length, seconds: (last - start) / 1000 };
}

/** To its end; returns its CPU time. */
async function run(args) {
  const before = childrenCpuMs();
  const child = spawn(process.execPath, [PROGRAM, ...args], { stdio: ["ignore", "ignore", "inherit"] });
  const code = await new Promise((resolve) => child.on("close", resolve));
  if (code !== 0) throw new Error(`rollout ${args[0]} ended with ${code}`);
  return childrenCpuMs() - before;
}

function startWorker() {
  const args = ["worker", postgres.url, "--max-workers", String(AT_ONCE), "--cache", join(temporary, "cache")];
  return serve(args, "stderr", /is ready/);
}

async function serveModels(latency) {
  const server = await serve(["mock-llm", "--port", "0", "--latency", String(latency)], "stdout", /http:[^\s,]+/);
  return { ...server, url: /http:[^\s,]+/.exec(server.said)[0] };
}

function settingsFor(url) {
  const entry = { provider: "openai", api_base: url };
  return {
    models: { "scripted-agent": entry, "scripted-user": entry },
    ...{ agent_model: "openai/scripted-agent", user_model: "openai/scripted-user" },
  };
}

/** A process that is there until it is stopped. */
async function serve(args, stream, ready) {
  const child = spawn(process.execPath, [PROGRAM, ...args], { stdio: ["ignore", "pipe", "pipe"] });
  serving.add(child);
  child.on("close", () => serving.delete(child));
  let said = "";
  const closed = new Promise((resolve) => child.on("close", resolve));
  await new Promise((resolve) => {
    child[stream].on("data", (text) => {
      said += text;
      if (ready.test(said)) resolve();
    });
    child.on("close", resolve);
  });
  if (child.exitCode !== null) throw new Error(`rollout ${args[0]} ended: ${said}`);
  return {
    ...{ pid: child.pid, said },
    stop: async () => {
      child.kill("SIGTERM");
      await closed;
    },
  };
}

function cpuOf(players) {
  return players.reduce((sum, { pid }) => sum + cpuMsOf(pid), 0);
}
