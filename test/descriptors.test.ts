// Few file descriptors: fewer rollouts at once, said once; and where they run out all the same, the run waits for them and
// blames nobody. Real limits (`ulimit -n`) and real processes.
import { spawn } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { type Finished, PROGRAM, PROGRESS, type WorkFolder, workFolder } from "./support/cli.ts";
import { completion, type ModelServer, serveModel } from "./support/model-server.ts";
import { itemQuery, writeShop } from "./support/shop-dataset.ts";

const TAKE = fileURLToPath(new URL("./support/take-descriptors.mjs", import.meta.url));

/** `rollout …` in a shell that has lowered the limit, for itself and for good. */
function runLimited(work: WorkFolder, limit: number, args: string[], env: NodeJS.ProcessEnv = {}) {
  const words = [process.execPath, PROGRAM, ...args];
  const child = spawn("/bin/sh", ["-c", `ulimit -n ${limit}; exec "$@"`, "sh", ...words], {
    cwd: work.path,
    env: { ...process.env, ...env },
  });
  const result: Finished = { code: null, stdout: "", stderr: "" };
  child.stdout.on("data", (text) => (result.stdout += text));
  child.stderr.on("data", (text) => (result.stderr += text));
  const finished = new Promise<Finished>((resolve) => child.on("close", (code) => resolve({ ...result, code })));
  return { child, finished, said: () => result.stdout };
}

function prepare(server: ModelServer, host: string, queries: number, workers: number): WorkFolder {
  onTestFinished(() => server.close());
  const work = workFolder();
  writeShop(work, { queries: Array.from({ length: queries }, (_, n) => itemQuery(`q${n}`)) });
  const url = server.baseUrl.replace("127.0.0.1", host);
  const models = `models: {m: {provider: openai, model: m, api_base: "${url}"}}\nagent_model: m\nuser_model: m\n`;
  work.write("run.yml", `base_path: shop\n${models}max_turns: 1\nmax_workers: ${workers}\ndatasets: [Domain1]\n`);
  return work;
}

const hello = completion({ content: "Hello." });
const pause = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));

test("a low limit caps the rollouts at once, with one note, and nothing fails", async () => {
  let open = 0;
  let most = 0;
  const server = await serveModel((response) => {
    most = Math.max(most, ++open);
    setTimeout(() => {
      open--;
      response.setHeader("content-type", "application/json").end(JSON.stringify(hello));
    }, 100);
  });
  const work = prepare(server, "127.0.0.1", 120, 100);
  const { code, stdout } = await runLimited(work, 80, ["run", "--config", "run.yml"]).finished;
  expect(code).toBe(0);
  const notes = stdout.split("\n").filter((line) => line.includes("descriptors"));
  expect(notes).toEqual([
    "max_workers 100 needs about 150 file descriptors, the limit is 80: 30 at once. Raise it with ulimit -n 256; if the shell may not, where its hard limit is set (limits.conf, systemd, docker)",
  ]);
  expect(most).toBeLessThanOrEqual(30);
  expect(work.records("outputs/run/trajectories/Domain1.jsonl")).toHaveLength(120);
  expect(work.read("outputs/run/failures.jsonl")).toBe("");
});

test.each(["127.0.0.1", "localhost"])(
  "descriptors that run out while a run calls %s are waited for; no endpoint is blamed, no attempt is used up",
  async (host) => {
    const server = await serveModel((response) => {
      // without keep-alive every call needs a descriptor of its own
      const headers = { "content-type": "application/json", connection: "close" };
      setTimeout(() => response.writeHead(200, headers).end(JSON.stringify(hello)), 50);
    });
    const work = prepare(server, host, 300, 10);
    const env = { NODE_OPTIONS: `--import ${TAKE}`, TAKE_WHILE: join(work.path, "take") };
    const { child, finished, said } = runLimited(work, 128, ["run", "--config", "run.yml"], env);
    while (server.received.length < 20 && child.exitCode === null) await pause(10);
    work.write("take", "");
    const until = performance.now() + 20_000;
    while (!said().includes("no more file descriptors") && performance.now() < until) await pause(50);
    await pause(2000);
    work.remove("take");
    const { code, stdout, stderr } = await finished;
    expect(stdout).toContain("There are no more file descriptors (the limit is 128): waiting until some are free.");
    expect([code, stderr.replace(PROGRESS, "")]).toEqual([0, ""]);
    expect(stdout.match(/no more file descriptors/g)).toHaveLength(1);
    expect(stdout).not.toMatch(/fails the same way|cannot be used/);
    const records = work.records("outputs/run/trajectories/Domain1.jsonl");
    expect(new Set(records.map(({ metadata }) => metadata.attempt))).toEqual(new Set([1]));
    expect(records).toHaveLength(300);
    expect(work.read("outputs/run/failures.jsonl")).toBe("");
  },
);
