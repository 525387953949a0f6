// Somebody sets the clock of the machine while a run waits: real processes whose wall clock steps in the middle.
import type { ServerResponse } from "node:http";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import type { Trajectory } from "../src/core/index.ts";
import { type WorkFolder, workFolder } from "./support/cli.ts";
import { completion, failing, type ModelServer, serveModel } from "./support/model-server.ts";
import { itemQuery, writeShop } from "./support/shop-dataset.ts";

const CLOCK_STEP = fileURLToPath(new URL("./support/clock-step.mjs", import.meta.url));
const HOUR = 3_600_000;

/** Two queries, one turn each, against this server; the clock steps soon after it has been asked for the first time. */
async function runWithStep(server: ModelServer, step: number, config = "") {
  onTestFinished(() => server.close());
  const work = workFolder();
  writeShop(work, { queries: [itemQuery("q1"), itemQuery("q2")] });
  const model = `{m: {provider: openai, model: m, api_base: "${server.baseUrl}"}}`;
  const parties = "agent_model: m\nuser_model: m\nmax_turns: 1\nmax_workers: 1\n";
  work.write("run.yml", `base_path: shop\nmodels: ${model}\n${parties}${config}datasets: [Domain1]\n`);
  const started = performance.now();
  const env = { NODE_OPTIONS: `--import ${CLOCK_STEP}`, STEP_FILE: join(work.path, "step") };
  const { child, finished } = work.start(["run", "--config", "run.yml"], { env });
  const pause = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));
  while (server.received.length === 0 && child.exitCode === null) await pause(10);
  await pause(300);
  work.write("step", String(step));
  const result = await finished;
  return { work, ...result, tookMs: performance.now() - started };
}

const records = (work: WorkFolder) => work.records<Trajectory>("outputs/run/trajectories/Domain1.jsonl");

test.each([
  ["back by an hour", -HOUR],
  ["forward by a day", 24 * HOUR],
])("a wait that the server asked for takes as long as it asked for when the clock is set %s", async (_, step) => {
  const server = await serveModel(failing(429, "busy", { "retry-after": "3" }), completion({ content: "Hello." }));
  const { work, code, stdout, tookMs } = await runWithStep(server, step);
  expect(code).toBe(0);
  expect(tookMs).toBeGreaterThan(3000);
  expect(tookMs).toBeLessThan(20_000);
  expect(stdout).not.toMatch(/-\d[\d.]* (ms|s|min)\b/);
  expect(stdout).toMatch(/2 rollouts in ([3-9]|1\d)\.\d s/);
  const [first, second] = records(work).map(({ metadata }) => metadata.timings.duration_ms);
  expect(first).toBeGreaterThanOrEqual(2900);
  expect(first).toBeLessThan(20_000);
  expect(second).toBeGreaterThanOrEqual(0);
  expect(second).toBeLessThan(20_000);
  const { stdout: status } = await work.run(["status", "outputs/run", "--json"]);
  expect(JSON.parse(status).totals.secondsElapsed).toBeGreaterThanOrEqual(0);
});

test("max_rollout_seconds counts seconds that passed, and not what the clock was set forward by", async () => {
  const slow = (response: ServerResponse) => {
    setTimeout(() => response.end(JSON.stringify(completion({ content: "Hello." }))), 800);
  };
  const server = await serveModel(slow);
  const { work, code } = await runWithStep(server, 24 * HOUR, "max_rollout_seconds: 60\n");
  expect(code).toBe(0);
  expect(records(work).map(({ metadata }) => metadata.stop_reason)).not.toContain("time_limit");
});
