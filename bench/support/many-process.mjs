// Whole rollouts, very many at once, in a process of their own: what its event loop, its CPU and its memory had to bear while
// they started and afterwards. Tells its parent once, at the end.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { resolveConfig } from "../../dist/config/index.js";
import { bundledFolder } from "../../dist/domains/index.js";
import { makeRollouts } from "../../dist/runner/index.js";
import { rolloutSystem } from "./model-request.mjs";

const DATASET = "StudentAcademicPortal";
const RESOLUTION_MS = 10;
const { url, workers } = JSON.parse(process.argv[2]);
const temporary = mkdtempSync(join(tmpdir(), "rollout-bench-"));
process.on("exit", () => rmSync(temporary, { recursive: true, force: true }));

const lag = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
let [started, calls, rolloutMs] = [0, 0, 0];
/** What the start took: until every rollout has begun. */
let start;

const run = resolveConfig(
  {
    datasets: { [DATASET]: { agent: { model: "openai/bench", system_prompt: rolloutSystem } } },
    models: { bench: { provider: "openai", api_base: url } },
    user_model: "openai/bench",
    ...{ bundled: true, query_dir: writeQueries(workers), max_workers: workers, max_turns: 1 },
  },
  { folder: join(temporary, "run") },
);
const cpu = process.cpuUsage();
const startedAt = Date.now();
lag.enable();
const { finished, failed } = await makeRollouts(run, {
  env: {},
  onEvent: (event) => {
    if (event.type === "entry-end" && event.entry.type === "reply") calls++;
    else if (event.type === "rollout-start" && ++started === workers) {
      start = { lag: readLag(), cpuMs: cpuMs(), calls };
      lag.reset();
    } else if (event.type === "rollout-end") rolloutMs += event.durationMs;
    else if (event.type === "run-note") console.error(event.message);
  },
});
if (failed > 0 || finished !== workers)
  throw new Error(`${failed} rollouts failed, ${finished} of ${workers} finished`);
const result = {
  rolloutMs,
  startedAt,
  startCpuMs: start.cpuMs,
  callCpuMs: (cpuMs() - start.cpuMs) / (calls - start.calls),
  peakMB: process.resourceUsage().maxRSS / 1024,
  starting: start.lag,
  after: readLag(),
};
process.send(result, () => process.exit(0));

function cpuMs() {
  const { user, system } = process.cpuUsage(cpu);
  return (user + system) / 1000;
}

/** In milliseconds: how late the loop came to what was due. */
function readLag() {
  const late = (nanoseconds) => Math.max(0, nanoseconds / 1e6 - RESOLUTION_MS);
  return { p50: late(lag.percentile(50)), p99: late(lag.percentile(99)), max: late(lag.max) };
}

/** As many as there are workers: the bundled ones again and again, under other ids. */
function writeQueries(wanted) {
  const files = bundledFolder().find([DATASET]).queryFiles;
  const lines = files.flatMap((file) => readFileSync(file, "utf8").trim().split("\n"));
  const queries = lines.map((line) => JSON.parse(line));
  const folder = join(temporary, "queries");
  mkdirSync(folder);
  const written = Array.from({ length: wanted }, (_, n) => {
    const query = queries[n % queries.length];
    return `${JSON.stringify({ ...query, id: `${query.id}-${n}` })}\n`;
  });
  writeFileSync(join(folder, `${DATASET}.jsonl`), written.join(""));
  return folder;
}
