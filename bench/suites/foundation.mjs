// Scripted rollouts per second, what an idle environment weighs, how fast a large query file opens.
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { resolveConfig } from "../../dist/config/index.js";
import { bundledFolder, loadDomain, openQueryFiles, playPlan } from "../../dist/domains/index.js";
import { makeRollouts } from "../../dist/runner/index.js";
import { best, heapUsed, report, round, timed } from "../support/measure.mjs";

const DATASET = "StudentAcademicPortal";
const temporary = mkdtempSync(join(tmpdir(), "rollout-bench-"));
process.on("exit", () => rmSync(temporary, { recursive: true, force: true }));

async function scriptedRun(workers, rollouts, name) {
  const config = { datasets: [DATASET], bundled: true, max_workers: workers, rollouts };
  const run = resolveConfig(config, { folder: join(temporary, name) });
  let steps = 0;
  const onEvent = (event) => {
    if (event.type === "entry-end" && event.entry.type === "reply" && event.entry.by === "agent") steps++;
  };
  const { wallMs, cpuMs, value } = await timed(() => makeRollouts(run, { onEvent }));
  return { wallMs, cpuMs, steps, finished: value.finished };
}

/** The floor: the same reference calls on fresh environments, one JSON line each, and nothing else. */
async function floor(rollouts) {
  const files = bundledFolder().find([DATASET]);
  const domain = await loadDomain(files);
  const queries = openQueryFiles(files.queryFiles);
  return timed(async () => {
    let calls = 0;
    for (let n = 0; n < rollouts; n++) {
      for (let index = 0; index < queries.size; index++) {
        const played = await playPlan(domain, queries.load(index), n);
        calls += played.calls.length;
        appendFileSync(join(temporary, "floor.jsonl"), `${JSON.stringify(played)}\n`);
      }
    }
    return calls;
  });
}

const repeat = 40;
await scriptedRun(64, 5, "warm-up");
const bare = await floor(repeat);
const throughput = [];
for (const workers of [1, 64, 1024]) {
  const { wallMs, cpuMs, steps, finished } = await scriptedRun(workers, repeat, `workers-${workers}`);
  throughput.push({
    max_workers: workers,
    rollouts: finished,
    "rollouts/s": round(finished / (wallMs / 1000), 0),
    "steps/s": round(steps / (wallMs / 1000), 0),
    "steps/s per core (CPU)": round(steps / (cpuMs / 1000), 0),
    "CPU ms/step": round(cpuMs / steps, 3),
    "x floor (CPU)": round(cpuMs / bare.cpuMs),
  });
}

const domain = await loadDomain(bundledFolder().find([DATASET]));
const count = 20_000;
const before = await heapUsed();
const opened = await timed(async () => {
  const environments = [];
  for (let n = 0; n < count; n++) environments.push(await domain.openEnvironment(n));
  return environments;
});
const idle = ((await heapUsed()) - before) / count;
const wanted = {
  id: "x",
  name: "authorize_student",
  arguments: JSON.stringify({ student_id: "S1002", date_of_birth: "2006-10-05" }),
};
for (const environment of opened.value) await environment.call(wanted, new AbortController().signal);
const used = ((await heapUsed()) - before) / count;
const clone = await best(3, async () =>
  structuredClone(
    JSON.parse(readFileSync(join(bundledFolder().path, "database/outputs/entities/Enrollment.json"), "utf8")),
  ),
);
const memory = [
  { what: "idle environment", "bytes each": round(idle, 0), "µs to open": round((opened.wallMs * 1000) / count, 1) },
  { what: "after an authorisation", "bytes each": round(used, 0), "µs to open": "" },
  { what: "floor: cloning one table instead", "bytes each": "", "µs to open": round(clone.wallMs * 1000, 0) },
];

const source = readFileSync(bundledFolder().find([DATASET]).queryFiles[0], "utf8")
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line));
const large = join(temporary, "large.jsonl");
writeFileSync(
  large,
  Array.from({ length: 10_000 }, (_, n) => JSON.stringify({ ...source[n % source.length], id: `q${n}` })).join("\n"),
);
const parse = await best(
  3,
  async () =>
    readFileSync(large, "utf8")
      .split("\n")
      .map((line) => JSON.parse(line)).length,
);
const open = await best(3, async () => openQueryFiles([large]).size);
const opening = [
  { what: "open 10,000 queries", ms: round(open.wallMs, 0), "x floor": round(open.cpuMs / parse.cpuMs) },
  { what: "floor: read and parse the same file", ms: round(parse.wallMs, 0), "x floor": 1 },
];

report([
  {
    title: `Scripted rollouts of ${DATASET} (floor: bare reference calls, ${round(bare.cpuMs, 0)} ms CPU)`,
    rows: throughput,
  },
  { title: "Environments", rows: memory },
  { title: `Opening a query file of ${round(readFileSync(large).length / 2 ** 20, 1)} MB`, rows: opening },
]);
