// What spans cost: the same whole rollouts over a model server, without spans, with them, and with messages in them, at
// about 1,000 spans a second. The least of several runs of each, in turn.
import { fork, spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { report, round } from "../support/measure.mjs";

const support = (file) => fileURLToPath(new URL(`../support/${file}`, import.meta.url));
const quick = process.env.BENCH_QUICK === "1";
const [TRIES, CALLS, LATENCY, WORKERS] = [quick ? 1 : 4, quick ? 600 : 2400, 100, 55];
const WAYS = [
  { title: "no spans" },
  { title: "spans", otel: true },
  { title: "spans with content", otel: true, content: true },
];

const [model, collector] = await Promise.all([start("model-process.mjs", String(LATENCY)), start("span-process.mjs")]);
const least = new Map();
for (let n = 0; n < TRIES; n++) {
  for (const way of WAYS) {
    const result = await measure(way);
    const before = least.get(way);
    if (!before || result.cpuMs < before.cpuMs)
      least.set(way, { ...result, wallMs: Math.min(result.wallMs, before?.wallMs ?? Infinity) });
    else before.wallMs = Math.min(result.wallMs, before.wallMs);
  }
}
const floor = least.get(WAYS[0]);
const rows = WAYS.map((way) => {
  const { cpuMs, wallMs, rollouts, calls, spans } = least.get(way);
  return {
    way: way.title,
    rollouts,
    "spans/s": round(spans / (wallMs / 1000), 0),
    "CPU ms/rollout": round((cpuMs * calls) / rollouts, 2),
    "x CPU": round(cpuMs / floor.cpuMs, 3),
    "x wall": round(wallMs / floor.wallMs, 3),
  };
});
report([{ title: `Spans: ${WORKERS} workers, a model of ${LATENCY} ms`, rows }]);
process.exit(0);

async function measure({ otel, content }) {
  const before = await countSpans();
  const asked = { way: "rollouts", concurrency: WORKERS, calls: CALLS, latency: LATENCY, url: model.url };
  const spans = otel ? { otel: collector.url, otelContent: content } : undefined;
  const child = spawnSync(
    process.execPath,
    ["--expose-gc", support("model-caller.mjs"), JSON.stringify({ ...asked, spans })],
    {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "inherit"],
    },
  );
  if (child.status !== 0) throw new Error("the rollouts failed");
  return { ...JSON.parse(child.stdout), spans: (await countSpans()) - before };
}

function countSpans() {
  const told = new Promise((resolve) => collector.process.once("message", ({ spans }) => resolve(spans)));
  collector.process.send("how many?");
  return told;
}

async function start(file, ...args) {
  const process = fork(support(file), args);
  const { url } = await new Promise((resolve) => process.once("message", resolve));
  return { process, url };
}
