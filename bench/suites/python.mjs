// Datasets in Python: the same dialogues with the same small domain in this process and as a dropped-in Python server, CPU
// of all processes; and with a server that computes for 5 ms in each call, in one process and in as many as it needs.

import { callModel } from "../support/call-model.mjs";
import { report, round } from "../support/measure.mjs";

const quick = process.env.BENCH_QUICK === "1";
const TRIES = quick ? 1 : 3;
const DIALOGUES = { concurrency: 64, latency: 50, steps: 11 };

const light = [];
for (const courses of [20, 500]) {
  const ways = [
    { way: "in process", language: "js", courses },
    { way: "Python server", language: "py", courses },
  ];
  const [inProcess, python] = await sideBySide(ways, quick ? 1500 : 4000);
  for (const { way, cpuMs, nodeMs, wallRatio, processes } of [inProcess, python])
    light.push({
      tools: way,
      "records a session": courses,
      "CPU ms/call": round(cpuMs, 3),
      "of that, ours": round(nodeMs, 3),
      "x in process": round(cpuMs / inProcess.cpuMs),
      "wall over ideal": round(wallRatio),
      "Python processes": processes,
    });
}

const ways = [1, "auto"].map((python_processes) => ({
  way: python_processes,
  ...{ language: "py", burnMs: 5, settings: { python_processes } },
}));
const heavy = await sideBySide(ways, 768);

report([
  {
    title: `64 at once, a model of 50 ms, dialogues of 12 calls, medians of ${TRIES}: a server that costs little`,
    rows: light,
  },
  {
    title: "The same, with a server that computes for 5 ms in each call",
    rows: heavy.map(({ way, cpuMs, wallRatio, processes }) => ({
      python_processes: way,
      "CPU ms/call": round(cpuMs, 3),
      "wall over ideal": round(wallRatio),
      "x the wall time of 1": round(wallRatio / heavy[0].wallRatio),
      "Python processes": processes,
    })),
  },
]);
process.exit(0);

/** Taken in turns, so that a busy minute of the machine meets all; of each way, the median by CPU. */
async function sideBySide(ways, calls) {
  const results = ways.map(() => []);
  for (let n = 0; n < TRIES; n++)
    for (const [place, options] of ways.entries()) {
      const seen = await callModel({ ...DIALOGUES, calls, ...options }, process.execPath, "course-caller.mjs");
      results[place].push({ ...seen, way: options.way });
    }
  return results.map((all) => all.toSorted((a, b) => a.cpuMs - b.cpuMs)[all.length >> 1]);
}
