// Plays the dialogues of a dataset in a process of its own: CPU of it and of all that it starts for each model call, and
// how much longer than the model alone they took. Prints one JSON line.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { resolveConfig } from "../../dist/config/index.js";
import { makeRollouts } from "../../dist/runner/index.js";
import { writeCourses } from "./course-domain.mjs";
import { rolloutSystem } from "./model-request.mjs";
import { childrenOf, treeCpuMs } from "./processes.mjs";

const {
  url,
  concurrency,
  calls,
  latency,
  steps,
  language,
  burnMs,
  courses,
  settings = {},
} = JSON.parse(process.argv[2]);
const temporary = mkdtempSync(join(tmpdir(), "rollout-bench-"));
process.on("exit", () => rmSync(temporary, { recursive: true, force: true }));
const queries = Math.ceil(calls / (steps + 1) / concurrency) * concurrency;
const folder = writeCourses(join(temporary, "data"), { language, queries, burnMs, courses });

const play = (name, onEvent, more) =>
  makeRollouts(
    resolveConfig(
      {
        base_path: folder,
        datasets: { Courses: { agent: { model: "openai/bench", system_prompt: rolloutSystem } } },
        models: { bench: { provider: "openai", api_base: url } },
        user_model: "openai/bench",
        ...{ max_turns: 1, max_steps_per_turn: steps + 5, max_workers: concurrency, ...settings, ...more },
      },
      { folder: join(temporary, name) },
    ),
    { env: process.env, onEvent },
  );

await play("warm-up", () => {}, { limit: 2 * concurrency });
let [replies, ended, processes] = [0, 0, 0];
const cpu = treeCpuMs(process.pid);
const own = process.cpuUsage();
const start = performance.now();
const { finished, failed } = await play("measured", (event) => {
  if (event.type === "entry-end" && event.entry.type === "reply") replies++;
  if (event.type === "rollout-end" && ++ended % concurrency === 1)
    processes = Math.max(processes, childrenOf(process.pid).length); // not at each: looking costs CPU as well
});
const wallMs = performance.now() - start;
const { user, system } = process.cpuUsage(own);
if (failed > 0 || finished !== queries)
  throw new Error(`${failed} rollouts failed, ${finished} of ${queries} finished`);
console.log(
  JSON.stringify({
    calls: replies,
    cpuMs: (treeCpuMs(process.pid) - cpu) / replies,
    nodeMs: (user + system) / 1000 / replies,
    wallRatio: wallMs / ((replies * latency) / concurrency),
    processes,
  }),
);
process.exit(0);
