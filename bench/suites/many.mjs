// Ten thousand at once: whether they really are, what that takes of memory and of the event loop, and how soon they are
// there; next to a thousand. The model takes 10 s on average, which is 1,000 calls a second, and 2 s, which is more than one
// core can do.
import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { report, round } from "../support/measure.mjs";

const STEPS = 2;
const quick = process.env.BENCH_QUICK === "1";
const LEVELS = quick
  ? [{ workers: 500, latency: 500 }]
  : [
      { workers: 1000, latency: 1000 },
      { workers: 10_000, latency: 10_000 },
      { workers: 10_000, latency: 2000 },
    ];
const chosen = process.argv.slice(3).flatMap((word) => LEVELS[Number(word)] ?? []);

const rows = [];
for (const level of chosen.length > 0 ? chosen : LEVELS) rows.push(...(await measure(level)));
report([
  { title: `Many at once: dialogues of ${STEPS + 1} calls`, rows: rows.filter((_, n) => n % 2 === 0) },
  { title: "Their event loop, ms late", rows: rows.filter((_, n) => n % 2 === 1) },
]);
process.exit(0);

async function measure({ workers, latency }) {
  const server = fork(support("model-process.mjs"), [latency, STEPS, workers].map(String));
  const [{ url }] = await once(server, "message");
  const caller = fork(support("many-process.mjs"), [JSON.stringify({ url, workers })], { execArgv: process.execArgv });
  server.on("message", ({ full }) => full && caller.send("all are in flight"));
  const [ours] = await Promise.race([once(caller, "message"), once(caller, "exit")]);
  if (typeof ours !== "object") throw new Error(`${workers} at once failed`);
  const told = once(server, "message");
  server.send("how many?");
  const [theirs] = await told;
  server.kill();
  if (theirs.most !== workers) console.error(`NOT ALL AT ONCE: ${theirs.most} of ${workers} requests were in flight`);
  const each = { workers, "model, s": latency / 1000 };
  return [
    {
      ...each,
      "most in flight": theirs.most,
      "first request, s": round((theirs.firstAt - ours.startedAt) / 1000),
      "all in flight, s": round((theirs.fullAt - ours.startedAt) / 1000),
      "calls/s": round(ours.calls / (ours.wallMs / 1000), 0),
      "CPU ms/call": round(ours.cpuMs, 3),
      "server's": round(theirs.serverCpuMs, 3),
      "time over the model's": round(ours.rolloutMs / theirs.waited),
      "peak MB": round(ours.peakMB, 0),
      "KB/call": round(theirs.kilobytes, 0),
    },
    { ...each, ...lagOf("starting", ours.starting), ...lagOf("after", ours.after) },
  ];
}

function lagOf(when, { p50, p99, max } = { p50: Number.NaN, p99: Number.NaN, max: Number.NaN }) {
  return { [`${when}, p50`]: round(p50, 1), [`${when}, p99`]: round(p99, 1), [`${when}, max`]: round(max, 1) };
}

function support(file) {
  return fileURLToPath(new URL(`../support/${file}`, import.meta.url));
}
