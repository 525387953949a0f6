// What a server's refusals (429) cost: 400 workers, calls of 1 s, next to the same calls without refusals. Quick is a
// fifth of all times.
import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { createRandom, systemClock } from "../../dist/core/index.js";
import { createModels } from "../../dist/models/connect.js";
import { report, round } from "../support/measure.mjs";
import { end } from "../support/processes.mjs";

const scale = process.env.BENCH_QUICK === "1" ? 0.2 : 1;
const [WORKERS, CALLS, LATENCY] = [400, 2800, 1000 * scale];
const burst = { from: 1000 * scale, to: 6000 * scale };
const WORLDS = [
  { title: "no refusals", ideal: 7 },
  { title: "5 s of 429, no Retry-After", burst, ideal: 12 },
  { title: "5 s of 429, with Retry-After", burst, told: true, ideal: 12 },
  { title: "room for 200 at once", room: 200, ideal: 14 },
];

const rows = [];
let clean;
for (const { title, ideal, ...world } of WORLDS) {
  const { seconds, refused, late, peak } = await measure(world);
  clean ??= seconds;
  rows.push({
    server: title,
    seconds: round(seconds, 1),
    "x clean": round(seconds / clean),
    "s at the least": round(ideal * scale, 1),
    "429s": refused,
    "429s after 7 s": late,
    "most at once": peak,
  });
}
report([{ title: `Refusals: ${WORKERS} workers, ${CALLS} calls of ${LATENCY / 1000} s`, rows }]);
process.exit(0);

async function measure(world) {
  const path = fileURLToPath(new URL("../support/busy-process.mjs", import.meta.url));
  const server = fork(path, [JSON.stringify({ ...world, latency: LATENCY, lateAfter: 7000 * scale })]);
  const { url } = await new Promise((resolve) => server.once("message", resolve));
  const registry = { bench: { provider: "openai", api_base: url } };
  const models = createModels({ env: {}, registry, clock: systemClock, random: createRandom("bench") });
  const client = models.client("openai/bench", {});
  const { signal } = new AbortController();
  const origin = { dataset: "d", queryId: "q", seed: 1, mode: "positive", party: "agent", position: 0 };
  const messages = [{ role: "user", content: "Is it open?" }];
  let left = CALLS;
  const work = async (_, rollout) => {
    const request = { system: "", messages, tools: [], toolChoice: "auto", origin: { ...origin, rollout } };
    while (left-- > 0) await client.complete(request, signal);
  };
  const start = performance.now();
  await Promise.all(Array.from({ length: WORKERS }, work));
  const seconds = (performance.now() - start) / 1000;
  const told = new Promise((resolve) => server.once("message", resolve));
  server.send("how many?");
  const counts = await told;
  await end(server);
  await models.close();
  return { seconds, ...counts };
}
