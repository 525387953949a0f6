// Long dialogues: what a model call costs when 10, 50 and 200 replies with their results are sent again, and when the calls
// come in several turns with a simulated user between them and reasoning that a new turn clears; next to a bare loop that
// does the same and keeps nothing.

import { callModel } from "../support/call-model.mjs";
import { report, round } from "../support/measure.mjs";

const quick = process.env.BENCH_QUICK === "1";
const TRIES = quick ? 1 : 3;
const LENGTHS = [{ steps: 10 }, { steps: 50 }, { steps: 200 }, { steps: 3, turns: 6 }];
const rows = [];
for (const length of LENGTHS) {
  const calls = quick ? 3000 : 12_000;
  const [floor, ours] = await sideBySide({
    concurrency: 64,
    calls,
    latency: 50,
    warmMs: quick ? 0 : 15_000,
    ...length,
  });
  rows.push({
    turns: length.turns ?? 1,
    "steps a turn": length.steps,
    "KB/call, bare": round(floor.kilobytes, 0),
    "KB/call": round(ours.kilobytes, 0),
    "bare loop, CPU ms/call": round(floor.cpuMs, 3),
    "whole rollouts, CPU ms/call": round(ours.cpuMs, 3),
    "x bare": round(ours.cpuMs / floor.cpuMs),
    "peak MB": round(ours.peakMB, 0),
  });
}
report([{ title: `Long dialogues: 64 at once, a model of 50 ms, medians of ${TRIES}`, rows }]);
process.exit(0);

/** Taken in turns, so that a busy minute of the machine meets both. */
async function sideBySide(options) {
  const [floor, ours] = [[], []];
  for (let n = 0; n < TRIES; n++) {
    floor.push(await callModel({ way: "loop", ...options }));
    ours.push(await callModel({ way: "rollouts", ...options }));
  }
  return [median(floor), median(ours)];
}

function median(results) {
  return results.toSorted((a, b) => a.cpuMs - b.cpuMs)[Math.floor(results.length / 2)];
}
