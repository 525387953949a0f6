// Ten thousand at once: whether they really are, what that takes of memory and of the event loop, and how soon they are
// there; next to a thousand. The model takes 10 s on average, which is 1,000 calls a second; and 2 s, which is more than one
// core can do, so that fewer of them wait for the model than for this process.
import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { report, round } from "../support/measure.mjs";
import { end, ended } from "../support/processes.mjs";

const STEPS = 2;
const quick = process.env.BENCH_QUICK === "1";
const LEVELS = quick
  ? [{ workers: 200, latency: 2000 }]
  : [
      { workers: 1000, latency: 1000 },
      { workers: 10_000, latency: 10_000 },
      { workers: 10_000, latency: 2000 },
    ];
const results = [];
for (const level of LEVELS) results.push(await measure(level));
report([
  { title: `Many at once: dialogues of ${STEPS + 1} calls`, rows: results.map(describe) },
  { title: "Their event loop, ms late", rows: results.map(describeLag) },
]);
process.exit(0);

async function measure({ workers, latency }) {
  console.error(`… ${workers} at once, a model of ${latency / 1000} s`);
  const server = fork(support("model-process.mjs"), [latency, STEPS, workers].map(String));
  const [{ url }] = await once(server, "message");
  const caller = fork(support("many-process.mjs"), [JSON.stringify({ url, workers })], { execArgv: process.execArgv });
  const [ours] = await Promise.race([once(caller, "message"), once(caller, "exit")]);
  if (typeof ours !== "object") throw new Error(`${workers} at once failed`);
  const told = once(server, "message");
  server.send("how many?");
  const [theirs] = await told;
  await Promise.all([end(server), ended(caller)]);
  return { workers, latency, ours, theirs };
}

function describe({ workers, latency, ours, theirs }) {
  return {
    workers,
    "model, s": latency / 1000,
    "most in flight": theirs.most,
    "first request, s": round((theirs.firstAt - ours.startedAt) / 1000),
    "all begun, s": round((theirs.allAt - ours.startedAt) / 1000),
    "start, CPU s": round(ours.startCpuMs / 1000),
    "CPU ms/call": round(ours.callCpuMs, 3),
    "server's": round(theirs.serverCpuMs, 3),
    "time over the model's": round(ours.rolloutMs / theirs.waited),
    "peak MB": round(ours.peakMB, 0),
    "KB/call": round(theirs.kilobytes, 0),
  };
}

function describeLag({ workers, latency, ours: { starting, after } }) {
  return { workers, "model, s": latency / 1000, ...lagOf("starting", starting), ...lagOf("after", after) };
}

function lagOf(when, { p50, p99, max }) {
  return { [`${when}, p50`]: round(p50, 1), [`${when}, p99`]: round(p99, 1), [`${when}, max`]: round(max, 1) };
}

function support(file) {
  return fileURLToPath(new URL(`../support/${file}`, import.meta.url));
}
