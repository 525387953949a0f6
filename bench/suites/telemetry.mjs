// What spans cost: the same whole rollouts over a model server, without spans, with them, and with messages in them, at
// about 1,000 spans a second. The least of several turns of each, in one process that is warm.
import { fork } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { resolveConfig } from "../../dist/config/index.js";
import { makeRollouts } from "../../dist/runner/index.js";
import { openTelemetry } from "../../dist/telemetry/index.js";
import { report, round, timed } from "../support/measure.mjs";
import { rolloutSystem } from "../support/model-request.mjs";
import { end } from "../support/processes.mjs";

const temporary = mkdtempSync(join(tmpdir(), "rollout-bench-"));
process.on("exit", () => rmSync(temporary, { recursive: true, force: true }));

const quick = process.env.BENCH_QUICK === "1";
const [TURNS, ROUNDS, LATENCY, WORKERS] = [quick ? 1 : 4, quick ? 4 : 12, 100, 55]; // a round is 27 rollouts
const [model, collector] = await Promise.all([start("model-process.mjs", String(LATENCY)), start("span-process.mjs")]);
const WAYS = [
  { title: "no spans", asked: {} },
  { title: "spans", asked: { otel: collector.url } },
  { title: "spans with content", asked: { otel: collector.url, otelContent: true } },
];

const least = new Map();
for (let turn = 0; turn <= TURNS; turn++) {
  for (const way of WAYS) {
    const { value, cpuMs, wallMs } = await timed(() => play(way.asked));
    if (turn === 0) continue; // warming up
    const before = least.get(way) ?? { cpuMs, wallMs };
    least.set(way, { ...value, cpuMs: Math.min(cpuMs, before.cpuMs), wallMs: Math.min(wallMs, before.wallMs) });
  }
}
const floor = least.get(WAYS[0]);
const rows = WAYS.map((way) => {
  const { cpuMs, wallMs, rollouts, spans } = least.get(way);
  const perSpan = ((cpuMs - floor.cpuMs) * 1000) / spans;
  return {
    way: way.title,
    rollouts,
    "spans/s": way.asked.otel ? round(spans / (wallMs / 1000), 0) : 0,
    "CPU ms/rollout": round(cpuMs / rollouts),
    "CPU µs/span": round(perSpan, 1),
    "% of a core at 1,000 spans/s": round(perSpan / 10, 1),
    "x CPU": round(cpuMs / floor.cpuMs, 3),
    "x wall": round(wallMs / floor.wallMs, 3),
  };
});
await Promise.all([end(model.child), end(collector.child)]);
report([{ title: `Spans: ${WORKERS} workers, a model of ${LATENCY} ms`, rows }]);
process.exit(0);

/** Single-turn rollouts of a bundled domain: six model calls, five tool calls and one rollout make twelve spans. */
async function play(asked) {
  const config = {
    datasets: { StudentAcademicPortal: { agent: { model: "openai/bench", system_prompt: rolloutSystem } } },
    models: { bench: { provider: "openai", api_base: model.url } },
    user_model: "openai/bench",
    ...{ max_turns: 1, bundled: true, max_workers: WORKERS, rollouts: ROUNDS, resume: false },
  };
  const telemetry = await openTelemetry({ env: {}, ...asked });
  let spans = 0;
  const onEvent = ({ type }) => {
    if (type === "entry-end" || type === "rollout-end") spans++;
  };
  const run = resolveConfig(config, { folder: join(temporary, "run") });
  const { finished, failed } = await makeRollouts(run, { env: {}, onEvent, telemetry });
  const lost = await telemetry?.close();
  if (failed > 0 || lost) throw new Error(lost ?? `${failed} rollouts failed`);
  return { rollouts: finished, spans };
}

async function start(file, ...args) {
  const child = fork(fileURLToPath(new URL(`../support/${file}`, import.meta.url)), args);
  const { url } = await new Promise((resolve) => child.once("message", resolve));
  return { url, child };
}
