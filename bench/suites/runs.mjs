// What the run folder costs: the journal per entry and as a share of a run, memory over a hundred thousand rollouts, and
// how soon a folder that holds them is ready to go on.
import { spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  closeSync,
  createWriteStream,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { resolveConfig } from "../../dist/config/index.js";
import { createScriptedClient } from "../../dist/models/scripted/clients.js";
import { makeRollouts } from "../../dist/runner/index.js";
import { RunFolder } from "../../dist/runs/index.js";
import { report, round, timed } from "../support/measure.mjs";

const DATASET = "StudentAcademicPortal";
const temporary = mkdtempSync(join(tmpdir(), "rollout-bench-"));
process.on("exit", () => rmSync(temporary, { recursive: true, force: true }));
const folderOf = (name) => join(temporary, name);

function play(name, { workers, rollouts, mode = "positive", latencyMs = 0, onEvent, ...more }) {
  const models = latencyMs > 0 ? { agent_model: "slow/agent", user_model: "slow/user" } : {};
  const config = { datasets: [DATASET], bundled: true, max_workers: workers, rollouts, mode, ...models, ...more };
  const run = resolveConfig(config, { folder: folderOf(name) });
  return timed(() => makeRollouts(run, { createNetworkClient: slowModels(run, latencyMs), onEvent }));
}

/** The scripted models, each reply so long after its request. */
function slowModels(run, latencyMs) {
  const plans = new Map(
    run.datasets.flatMap(({ queryFiles }) =>
      queryFiles.flatMap((file) =>
        readFileSync(file, "utf8")
          .trim()
          .split("\n")
          .map((line) => JSON.parse(line))
          .map((query) => [query.id, query.task_info.plan]),
      ),
    ),
  );
  const same = (name) => name;
  return ({ model }) => {
    const name = model.replace("slow/", "scripted/");
    const client = createScriptedClient(name, ({ origin }) => ({
      plan: plans.get(origin.queryId),
      wireName: same,
      planName: same,
    }));
    return {
      id: name,
      async complete(request, signal) {
        await new Promise((resolve) => setTimeout(resolve, latencyMs));
        return client.complete(request, signal);
      },
    };
  };
}

// --- what one entry costs -----------------------------------------------------------------------------------------

const entry = {
  type: "reply",
  by: "agent",
  content: "You are registered for Linear Algebra, Monday and Wednesday. ".repeat(6),
  toolCalls: [{ id: "call_1", name: "register_for_course", arguments: '{"student_id":"S1007","confirm":true}' }],
  usage: { inputTokens: 900, outputTokens: 80, cachedTokens: 0, reasoningTokens: 0, costUsd: 0.001 },
  finish: "tool-calls",
  at: new Date().toISOString(),
};

async function journal(sync, writers, each) {
  const folder = new RunFolder({ path: folderOf(`journal-${sync}-${writers}`), sync, checkpoints: true });
  const write = async (n) => {
    for (let index = 0; index < each; index++)
      await folder.record({ type: "entry-end", dataset: DATASET, queryId: `q${n}`, rollout: 0, index, entry });
  };
  const result = await timed(() => Promise.all(Array.from({ length: writers }, (_, n) => write(n))));
  await folder.close();
  return result;
}

async function bareWrites(lines) {
  const file = openSync(folderOf("floor.jsonl"), "a");
  const result = await timed(async () => {
    for (let n = 0; n < lines; n++) writeSync(file, `${JSON.stringify({ type: "entry-end", n, entry })}\n`);
  });
  closeSync(file);
  return result;
}

const costs = [];
await journal("never", 64, 200);
for (const [writers, each] of [
  [1, 300],
  [64, 500],
  [1024, 100],
]) {
  for (const sync of ["never", "batch", "always"]) {
    const lines = writers * each;
    const { wallMs, cpuMs } = await journal(sync, writers, each);
    costs.push({
      sync,
      writers,
      entries: lines,
      "µs an entry (wall)": round((wallMs * 1000) / lines, 1),
      "µs an entry (CPU)": round((cpuMs * 1000) / lines, 1),
    });
  }
}
const floor = await bareWrites(20_000);
costs.push({
  sync: "floor: stringify and writeSync",
  writers: 1,
  entries: 20_000,
  "µs an entry (wall)": round((floor.wallMs * 1000) / 20_000, 1),
  "µs an entry (CPU)": round((floor.cpuMs * 1000) / 20_000, 1),
});

// --- the journal's share of a run ---------------------------------------------------------------------------------

const shares = [];
await play("warm-up", { workers: 1024, rollouts: 20 });
for (const [latencyMs, rollouts, tries] of [
  [0, 80, 5],
  [200, 80, 2],
]) {
  const walls = { with: [], without: [] };
  for (let n = 0; n < tries; n++) {
    for (const [which, use_checkpoints] of [
      ["with", true],
      ["without", false],
    ]) {
      const { wallMs, cpuMs, value } = await play(`share-${latencyMs}-${which}-${n}`, {
        ...{ workers: 1024, rollouts, latencyMs, use_checkpoints },
      });
      walls[which].push({ wallMs, cpuMs, finished: value.finished });
    }
  }
  const least = (runs, what) => Math.min(...runs.map((run) => run[what]));
  const shareOf = (what) => {
    const [full, bare] = [least(walls.with, what), least(walls.without, what)];
    return `${round((100 * (full - bare)) / full, 1)} %`;
  };
  shares.push({
    models: latencyMs === 0 ? "answer at once" : `answer after ${latencyMs} ms`,
    rollouts: walls.with[0].finished,
    "ms with the journal": round(least(walls.with, "wallMs"), 0),
    "ms without": round(least(walls.without, "wallMs"), 0),
    "share of wall time": shareOf("wallMs"),
    "share of CPU time": shareOf("cpuMs"),
  });
}

// --- memory -------------------------------------------------------------------------------------------------------

const TOTAL = 100_000;
const QUERIES = 27;
const memory = [];
let finished = 0;
const onEvent = (event) => {
  if (event.type !== "rollout-end" || ++finished % 10_000 !== 0) return;
  globalThis.gc(); // what is left is what is held at this moment, some 256 rollouts under way included
  const { heapUsed: heap, rss } = process.memoryUsage();
  memory.push({ at: finished, heap, rss });
};
const rollouts = Math.ceil(TOTAL / QUERIES);
const long = await play("long", { workers: 256, rollouts, mode: "no_tool", onEvent });
const first = memory[0];
const flat = memory.map(({ at, heap, rss }) => ({
  "rollouts finished": at,
  "heap MB": round(heap / 2 ** 20, 1),
  "resident MB": round(rss / 2 ** 20, 0),
  "x heap at 10,000": round(heap / first.heap, 3),
}));

// --- ready to go on -----------------------------------------------------------------------------------------------

const PROBE = fileURLToPath(new URL("../support/resume-probe.mjs", import.meta.url));

/** A process of its own: from its start to the moment when the first new rollout could begin. */
function ready(name, more) {
  const asked = JSON.stringify({ dataset: DATASET, folder: folderOf(name), ...more });
  const { stdout, stderr, status } = spawnSync(process.execPath, [PROBE, asked], { encoding: "utf8" });
  if (status !== 0) throw new Error(stderr);
  const { processMs, planMs, kept, rss } = JSON.parse(stdout);
  const megabytes = (file) => round(statSync(join(folderOf(name), file)).size / 2 ** 20, 0);
  return {
    "rollouts kept": kept,
    "trajectories MB": megabytes(`trajectories/${DATASET}.jsonl`),
    "journal MB": megabytes("journal.jsonl"),
    "s to ready": round(processMs / 1000, 1),
    "of that, reading the folder": round(planMs / 1000, 1),
    "resident MB": round(rss / 2 ** 20, 0),
  };
}

/** A folder of whole dialogues: real ones, copied under other rollout numbers. */
async function multiply(from, to, times) {
  await play(from, { workers: 64, rollouts: 1 });
  await play(to, { workers: 64, rollouts: 1 });
  for (const file of [`trajectories/${DATASET}.jsonl`, "journal.jsonl"]) {
    const lines = readFileSync(join(folderOf(from), file), "utf8")
      .split("\n")
      .filter((line) => line.includes('"rollout":0'));
    const out = createWriteStream(join(folderOf(to), file), { flags: "a" });
    for (let n = 1; n < times; n++) {
      const text = lines.map((line) => line.replace('"rollout":0', `"rollout":${n}`)).join("\n");
      if (!out.write(`${text}\n`)) await once(out, "drain");
    }
    await new Promise((resolve) => out.end(resolve));
  }
}

const resumed = [{ dialogues: "short", ...ready("long", { rollouts: rollouts + 1, mode: "no_tool" }) }];
rmSync(folderOf("long"), { recursive: true, force: true });
await multiply("whole-one", "whole", rollouts);
resumed.push({ dialogues: "whole", ...ready("whole", { rollouts: rollouts + 1, mode: "positive" }) });

report([
  { title: "Journal: what an entry costs until it is safe against a kill", rows: costs },
  { title: "The journal's share of a run with 1,024 workers", rows: shares },
  {
    title: `Memory over ${finished} short rollouts (${round(long.wallMs / 1000, 0)} s, ${round(finished / (long.wallMs / 1000), 0)} a second)`,
    rows: flat,
  },
  { title: "Continuing a folder that holds finished rollouts", rows: resumed },
]);
