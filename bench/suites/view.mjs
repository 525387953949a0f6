// The page over a folder of 100,000 whole dialogues, in a server process of its own, asked as the page asks: the first
// table, filters and sorts, text search, memory; and a run of 1,000 entries a second that is followed. Beside it a plain
// read of the same files. BENCH_FOLDER keeps the folder for the next time. BENCH_ROLLOUTS=1000000 BENCH_TURNS=2 is a run
// of a million short dialogues.
import { spawn } from "node:child_process";
import {
  closeSync,
  existsSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  rmSync,
  statSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { report, round, timed } from "../support/measure.mjs";
import { end } from "../support/processes.mjs";
import { openRun, writeRun } from "../support/view-folder.mjs";

const ROLLOUTS = Number(process.env.BENCH_ROLLOUTS ?? 100_000);
const TURNS = Number(process.env.BENCH_TURNS ?? 0);
const PROGRAM = fileURLToPath(new URL("../../bin/rollout.js", import.meta.url));
const ENTRIES_PER_SECOND = 1000;
const SECONDS = 15;

const temporary = mkdtempSync(join(tmpdir(), "rollout-bench-"));
process.on("exit", () => rmSync(temporary, { recursive: true, force: true }));
const folder = process.env.BENCH_FOLDER ?? join(temporary, "run");
if (!existsSync(join(folder, "manifest.json"))) writeRun(folder, ROLLOUTS, TURNS);

const records = join(folder, "trajectories");
const files = readdirSync(records).map((name) => join(records, name));
const size = files.reduce((sum, file) => sum + statSync(file).size, 0);
plainRead(); // the files are in the system's cache for everybody
const plain = await timed(plainRead);
const large = await measureLarge();
const followed = await measureFollowing();

report([
  {
    title: `view: ${ROLLOUTS} dialogues of ${round(size / ROLLOUTS / 1000, 1)} KB, ${round(size / 1e9)} GB; a plain read of them takes ${round(plain.wallMs)} ms`,
    rows: large,
  },
  { title: `view: a run of ${ENTRIES_PER_SECOND} entries a second, followed for ${SECONDS} s`, rows: followed },
]);

/** The floor: large reads that count newlines. */
function plainRead() {
  const buffer = Buffer.allocUnsafe(4 << 20);
  let lines = 0;
  for (const file of files) {
    const descriptor = openSync(file, "r");
    for (let read = readSync(descriptor, buffer); read > 0; read = readSync(descriptor, buffer))
      for (let at = buffer.indexOf(10); at !== -1 && at < read; at = buffer.indexOf(10, at + 1)) lines++;
    closeSync(descriptor);
  }
  return lines;
}

async function measureLarge() {
  const began = performance.now();
  const server = await startServer(folder);
  const rows = [{ what: "server answers", ms: round(performance.now() - began), wanted: "" }];
  const note = (what, ms, wanted) =>
    rows.push({
      ...{ what, ms: round(ms), wanted, "times the plain read": round(ms / plain.wallMs, 1) },
      "MB at most until then": peakMb(server.pid),
    });
  let first;
  let table;
  do {
    await pause(250);
    table = await server.ask("rollouts?");
    if (table.rows?.length > 0) first ??= performance.now() - began;
  } while (!table.isWhole);
  note("first table, from the start of the process", first, "< 2000");
  note("whole table, with scores", performance.now() - began, "");
  let worst = { ms: 0 };
  const views = [
    "sort=id&order=up",
    "sort=seconds",
    "sort=stop",
    "sort=cost",
    "verdict=failed",
    "stop=repeated_calls&blame=agent",
  ];
  for (const view of [
    ...views,
    "tool=desk_tool_3&sort=tokens",
    "failed=actions&turns.from=5&sort=turns",
    "dataset=Fees&fault=empty_reply",
    "id=0077",
  ]) {
    const { wallMs } = await timed(() => server.ask(`rollouts?${view}`));
    if (wallMs > worst.ms) worst = { ms: wallMs, view };
  }
  note(`slowest of ten filters and sorts (${worst.view})`, worst.ms, "< 200");
  for (const text of ["zanzibar", "nowhere in them", "M4711,", "“WINDOW”"]) {
    const { wallMs, value } = await timed(async () => {
      for (;;) {
        const found = await server.ask(`rollouts?${new URLSearchParams({ text })}`);
        if (found.search.searched === found.search.total) return found.chosen;
      }
    });
    note(`search: ${text} (${value} found)`, wallMs, "< 5000");
  }
  const { wallMs } = await timed(() => server.ask(""));
  note("the run with its pictures", wallMs, "");
  rows.push({ what: "server's memory at most, MB", ms: peakMb(server.pid), wanted: "< 300" });
  await server.stop();
  return rows;
}

/** A page is open on the run and asks again after every change, as the page does. */
async function measureFollowing() {
  const run = join(temporary, "live");
  const writer = openRun(run, 100_000);
  writer.flush();
  const server = await startServer(run);
  const leave = server.listen(() => server.ask(""));
  await pause(2000);
  const before = cpuSeconds(server.pid);
  const began = performance.now();
  let entries = 0;
  let rollouts = 0;
  while (performance.now() - began < SECONDS * 1000) {
    const due = ((performance.now() - began) / 1000) * ENTRIES_PER_SECOND;
    while (entries < due) entries += writer.add(rollouts++);
    writer.flush();
    await pause(50);
  }
  const share = (cpuSeconds(server.pid) - before) / ((performance.now() - began) / 1000);
  await pause(2000);
  const seen = (await server.ask("rollouts?")).total;
  if (seen !== rollouts) throw new Error(`${seen} of ${rollouts} rollouts were seen`);
  leave();
  writer.end();
  await server.stop();
  return [
    { what: "share of one core, %", value: round(share * 100, 1), wanted: "< 5" },
    { what: "rollouts", value: rollouts },
  ];
}

async function startServer(path) {
  const child = spawn(process.execPath, [PROGRAM, "view", path, "--no-open"], { stdio: ["ignore", "pipe", "inherit"] });
  const address = await new Promise((resolve) => {
    child.stdout.once("data", (data) => resolve(new URL(String(data).split("\n")[0])));
  });
  const answer = await fetch(address, { redirect: "manual" });
  const headers = { cookie: answer.headers.get("set-cookie").split(";")[0] };
  const [{ name }] = await (await fetch(new URL("/api/runs", address), { headers })).json();
  const ask = async (rest) => {
    const path = `/api/run/${encodeURIComponent(name)}${rest === "" ? "" : `/${rest}`}`;
    return (await fetch(new URL(path, address), { headers })).json();
  };
  return {
    pid: child.pid,
    ask,
    /** As page/server.ts: half a second apart, and 25 times as long as the answer took. */
    listen(act) {
      const abort = new AbortController();
      let next = 0;
      let isAsking = false;
      void (async () => {
        const changes = await fetch(new URL("/api/changes", address), { headers, signal: abort.signal });
        for await (const chunk of changes.body) {
          if (!String(Buffer.from(chunk)).includes("event: change") || isAsking || performance.now() < next) continue;
          isAsking = true;
          const { wallMs } = await timed(act);
          next = performance.now() + Math.max(500, wallMs * 25);
          isAsking = false;
        }
      })().catch(() => {});
      return () => abort.abort();
    },
    stop: () => end(child),
  };
}

function pause(milliseconds) {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

/** Linux only; elsewhere not known. */
function peakMb(pid) {
  const status = existsSync(`/proc/${pid}/status`) ? readFileSync(`/proc/${pid}/status`, "utf8") : "";
  return Math.round(Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? Number.NaN) / 1024);
}

function cpuSeconds(pid) {
  if (!existsSync(`/proc/${pid}/stat`)) return Number.NaN;
  const [user, system] = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1].split(" ").slice(11, 13);
  return (Number(user) + Number(system)) / 100;
}
