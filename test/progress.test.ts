// What a run says while it takes long, without a terminal: real processes whose clock runs fast, against servers and
// tools that are slow.
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { type Running, workFolder } from "./support/cli.ts";
import { completion, failing, type ModelAnswer, serveModel } from "./support/model-server.ts";
import { itemQuery, writeShop } from "./support/shop-dataset.ts";

const FAST_CLOCK = fileURLToPath(new URL("./support/fast-clock.mjs", import.meta.url));
/** A real second is a minute and a half. */
const FAST = { NODE_OPTIONS: `--import ${FAST_CLOCK}`, CLOCK_SPEED: "90" };

const usage = { prompt_tokens: 10, completion_tokens: 2 };
const hello = completion({ content: "Hello." }, { usage });
const after =
  (milliseconds: number): ModelAnswer =>
  (response) => {
    setTimeout(() => response.end(JSON.stringify(hello)), milliseconds);
  };

async function place(
  answers: ModelAnswer[],
  { queries = ["q1"], config = "", model = "", env = {} as NodeJS.ProcessEnv } = {},
) {
  const server = await serveModel(...answers);
  onTestFinished(() => server.close());
  const work = workFolder();
  writeShop(work, { queries: queries.map((id) => itemQuery(id)) });
  work.write(
    "run.yml",
    `base_path: shop\nmodels: {m: {provider: openai, model: m, api_base: "${server.baseUrl}"${model}}}\nagent_model: m\nuser_model: m\nmax_turns: 1\n${config}datasets: [Domain1]\n`,
  );
  const start = (...more: string[]) =>
    work.start(["run", "--config", "run.yml", ...more], { env: { ...FAST, ...env } });
  const run = (...more: string[]) => start(...more).finished;
  return { work, run, start };
}

/** Waits until the process has printed this to standard error, as often. */
function printed({ child, finished }: Running, text: string, times = 1): Promise<void> {
  return new Promise((resolve, reject) => {
    let seen = "";
    child.stderr?.on("data", (part) => {
      seen += part;
      if (seen.split(text).length > times) resolve();
    });
    void finished.then(() => reject(new Error(`never printed: ${text}`)));
  });
}

/** An answer that comes when the test says so. */
function hold(): { answer(): void; held: ModelAnswer } {
  let end = () => {};
  const held: ModelAnswer = (response) => {
    end = () => response.end(JSON.stringify(hello));
  };
  return { held, answer: () => end() };
}

const progressLines = (stderr: string) => stderr.split("\n").filter((line) => / done · /.test(line));

test("without a terminal a line comes at the start, every half minute and at the end, on standard error", async () => {
  const { held, answer } = hold();
  const { start } = await place([held, hello]);
  const running = start();
  await printed(running, "slow: q1 of Domain1: agent openai/m, ", 3);
  answer();
  const { code, stdout, stderr } = await running.finished;
  expect(code).toBe(0);
  const lines = progressLines(stderr);
  expect(lines.length).toBeGreaterThanOrEqual(5);
  expect(lines[0]).toMatch(/^0\/1 done · 0 running · 1 waiting · 0 failed · /);
  expect(lines[1]).toMatch(/^0\/1 done · 1 running · .* · slow: q1 of Domain1: agent openai\/m, (\d+ s|\d min)$/);
  expect(lines.at(-1)).toMatch(/^1\/1 done · 0 running · 0 waiting /);
  expect(stdout).not.toContain(" done · ");
});

test("the line tells retries, how many calls wait, for what and until when", async () => {
  const { run } = await place([failing(429, "busy", { "retry-after": "180" }), hello], {
    queries: ["q1", "q2", "q3", "q4"],
    config: "max_workers: 4\n",
    model: ", limits: {max_in_flight: 1}",
    env: { CLOCK_TIMEOUTS: "1" },
  });
  const { code, stderr } = await run();
  expect(code).toBe(0);
  const line = progressLines(stderr)[1];
  expect(line).toContain(" · tried again: 1 × rate-limit · 4 calls wait (to be tried again: 1 × rate-limit; http");
  expect(line).toMatch(/v1: it asks for a pause, until \d\d:\d\d:\d\d UTC\)/);
});

test("a server that fails for everyone is named as what the calls wait for", async () => {
  const { run } = await place([failing(500, "broken")], {
    queries: ["q1", "q2"],
    config: "max_workers: 2\n",
  });
  const { code, stderr } = await run();
  expect(code).toBe(3);
  expect(progressLines(stderr).join("\n")).toMatch(
    / · tried again: \d+ × server · [12] calls wait \(to be tried again: [12] × server/,
  );
});

test("a tool that hangs is what is slow", async () => {
  const find = { name: "find_item", arguments: '{"name":"slow"}' };
  const calling = completion({ content: "", tool_calls: [{ id: "c1", type: "function", function: find }] }, { usage });
  const { work, start } = await place([calling, hello]);
  work.write("slow", "");
  const running = start();
  await printed(running, " · slow: q1 of Domain1: tool find_item, ");
  work.remove("slow");
  expect((await running.finished).code).toBe(0);
});

test("--verbose tells a call that takes long while it does, and how long it took", async () => {
  const { held, answer } = hold();
  const { start } = await place([held, hello]);
  const running = start("--verbose");
  await printed(running, "so far", 3);
  answer();
  const { code, stdout, stderr } = await running.finished;
  expect(code).toBe(0);
  const told = stderr.split("\n").filter((line) => line.startsWith("q1 of Domain1: "));
  const last = told.pop();
  for (const line of told) expect(line).toMatch(/^q1 of Domain1: agent openai\/m takes long: \d+ (s|min) so far$/);
  expect(last).toMatch(/^q1 of Domain1: agent openai\/m took \d+ (s|min)$/);
  expect(stdout).toContain("Hello.");
  expect(progressLines(stderr).length).toBeGreaterThanOrEqual(3);
});

test.each(["--quiet", "--json"])("%s stays silent on standard error, however long it takes", async (flag) => {
  const { run } = await place([after(1000)]);
  const { code, stdout, stderr } = await run(flag);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  if (flag === "--quiet") expect(stdout).toBe("");
  else for (const line of stdout.trim().split("\n")) expect(JSON.parse(line)).toHaveProperty("type");
});

test("status tells the slow call of a run that goes on", async () => {
  const { held, answer } = hold();
  const { work, start } = await place([held, hello]);
  const running = start();
  await printed(running, " · slow: q1 of Domain1: agent openai/m, ");
  const { stdout } = await work.run(["status", "outputs/run"]);
  const { calls } = JSON.parse((await work.run(["status", "outputs/run", "--json"])).stdout);
  answer();
  expect(stdout).toMatch(/^slow: q1 of Domain1: agent openai\/m, \d+ (s|min)$/m);
  expect(calls).toMatchObject([{ id: "q1", dataset: "Domain1", party: "agent", model: "openai/m" }]);
  expect((await running.finished).code).toBe(0);
});

test("every command that reads records tells how far it is, once it takes longer than two seconds", async () => {
  const work = workFolder();
  await work.run(["single", "--domains", "StudentHealthServices", "--bundled", "--limit", "2", "--output-dir", "out"]);
  const rows = ["--format", "openai", "--all", "--out", "rows.jsonl"];
  const slowly = (...args: string[]) => work.run(args, { env: { ...FAST, CLOCK_SPEED: "1000000" } });
  for (const [text, ...args] of [
    ["2 rollouts scored", "eval", "out"],
    ["2 records verified", "status", "out", "--verify"],
    ["2 records read", "report", "out"],
    ["2 records read", "stats", "out"],
    ["2 records read", "export", "out", ...rows],
    ["2 records read", "label", "out", "--out", "labelled.jsonl"],
    ["rows checked", "validate", "rows.jsonl", "--format", "openai"],
    ["2 of 2 records replayed", "replay", "out"],
  ] as const) {
    const { code, stdout, stderr } = await slowly(...args);
    expect({ args, code, told: stderr.includes(text) }).toEqual({ args, code: 0, told: true });
    expect(stdout).not.toContain(text);
  }
  for (const args of [
    ["eval", "out", "--quiet"],
    ["eval", "out", "--json"],
    ["report", "out", "--quiet"],
  ])
    expect(await slowly(...args)).toMatchObject({ code: 0, stderr: "" });
});
