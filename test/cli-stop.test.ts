// Stopping while something is waited for: real signals to real processes, against endpoints and servers that keep one
// waiting. Nothing but a reply that is already paid for may hold a process back, and nothing is marked as failed.
import { spawn } from "node:child_process";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { type Finished, PROGRAM, type Running, type WorkFolder, workFolder } from "./support/cli.ts";
import { completion } from "./support/model-server.ts";
import { itemQuery, SCRIPTED, writeShop } from "./support/shop-dataset.ts";

/** Far less than any of the waits, and enough for a busy machine. */
const SECONDS = 20;
const OUTPUT = "outputs/run/trajectories/Domain1.jsonl";

const says = (content: string) => (response: ServerResponse) =>
  response.setHeader("content-type", "application/json").end(JSON.stringify(completion({ content })));
const busy = (response: ServerResponse) => response.writeHead(429, { "retry-after": "600" }).end("busy");
const broken = (response: ServerResponse) => response.writeHead(503).end("down");
const hangs = () => {};

/** Answers as `answer` says at that moment; it can go away and come back on the same port. */
async function serve(answer: (response: ServerResponse) => void) {
  const place = { answer, asked: 0, url: "", close: () => {} };
  const server = createServer((request, response) => {
    request.resume();
    place.asked++;
    place.answer(response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  place.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  place.close = () => {
    server.close();
    server.closeAllConnections();
  };
  onTestFinished(place.close);
  return place;
}

function prepare(url: string, more = ""): WorkFolder {
  const work = workFolder();
  writeShop(work, { queries: Array.from({ length: 6 }, (_, n) => itemQuery(`q${n}`)) });
  const models = `models: {m: {provider: openai, model: m, api_base: "${url}"}}\nagent_model: m\nuser_model: m\n`;
  work.write("run.yml", `base_path: shop\n${models}max_turns: 1\nmax_workers: 3\n${more}datasets: [Domain1]\n`);
  return work;
}

const pause = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));

async function waitFor(condition: () => boolean, running: Running): Promise<void> {
  while (!condition() && running.child.exitCode === null) await pause(10);
}

async function stop({ child, finished }: Running, signal: NodeJS.Signals): Promise<Finished & { seconds: number }> {
  const started = performance.now();
  child.kill(signal);
  const result = await finished;
  return { ...result, seconds: (performance.now() - started) / 1000 };
}

test.each(["SIGINT", "SIGTERM", "SIGHUP"] as const)(
  "%s leaves within seconds while an endpoint has asked for ten minutes, and a resume goes on as if nothing was",
  async (signal) => {
    const server = await serve(busy);
    const work = prepare(server.url);
    const running = work.start(["run", "--config", "run.yml"]);
    await waitFor(() => server.asked > 0, running);
    await pause(300);
    const { code, stdout, seconds } = await stop(running, signal);
    expect(code).toBe(130);
    expect(seconds).toBeLessThan(SECONDS);
    expect(stdout).toContain("Stopped with 6 rollouts left.");
    expect(work.has("outputs/run/lock")).toBe(false);
    expect(work.read("outputs/run/failures.jsonl")).toBe("");
    server.answer = says("Hello.");
    expect((await work.run(["resume", "outputs/run", "--quiet"])).code).toBe(0);
    expect(work.records(OUTPUT).map(({ metadata }) => metadata.attempt)).toEqual([1, 1, 1, 1, 1, 1]);
  },
);

test("a signal leaves within seconds while an endpoint is down, has gone, or limits itself by the minute", async () => {
  const cases = [
    { more: "", turn: (server: Awaited<ReturnType<typeof serve>>) => Object.assign(server, { answer: broken }) },
    { more: "", turn: (server: Awaited<ReturnType<typeof serve>>) => server.close() },
    { more: "limits: {requests_per_minute: 1}", turn: () => {} },
  ];
  for (const { more, turn } of cases) {
    const server = await serve(says("Hello."));
    const work = prepare(server.url);
    if (more) work.write("run.yml", work.read("run.yml").replace(`/v1"}`, `/v1", ${more}}`));
    const running = work.start(["run", "--config", "run.yml", "--max-workers", "1"]);
    await waitFor(() => server.asked > 0, running);
    turn(server);
    await pause(2500);
    const { code, seconds } = await stop(running, "SIGTERM");
    expect([more, code]).toEqual([more, 130]);
    expect(seconds).toBeLessThan(SECONDS);
    expect(work.read("outputs/run/failures.jsonl")).toBe("");
  }
});

test("a reply in flight is waited for and kept, and a second signal does not wait", async () => {
  const server = await serve(hangs);
  const work = prepare(server.url);
  const running = work.start(["run", "--config", "run.yml", "--max-workers", "1"]);
  await waitFor(() => server.asked > 0, running);
  running.child.kill("SIGHUP");
  running.child.kill("SIGHUP"); // a terminal that closes may say so more than once
  await pause(1500);
  expect(running.child.exitCode).toBe(null);
  const { code, seconds } = await stop(running, "SIGTERM");
  expect([code, seconds < SECONDS]).toEqual([130, true]);
  server.answer = says("Hello.");
  expect((await work.run(["resume", "outputs/run", "--quiet"])).code).toBe(0);
});

test("a tool server that never comes up is not waited for", async () => {
  const work = workFolder();
  const server = (script: string) => ({ command: "/bin/sh", args: ["-c", script] });
  work.write("questions.jsonl", '{"id": "a", "query": "Who?"}\n{"id": "b", "query": "What?"}\n');
  work.write("mcp.json", JSON.stringify({ mcpServers: { slow: server(`touch "${work.path}/begun"; sleep 300`) } }));
  const args = ["multi", "--input", "questions.jsonl", "--mcp", "mcp.json", "--agent-model", "scripted/agent"];
  const running = work.start([...args, "--output-dir", "out"]);
  await waitFor(() => work.has("begun"), running);
  const { code, stderr, seconds } = await stop(running, "SIGINT");
  expect([code, stderr]).toEqual([130, "Stopping: nothing has begun.\n"]);
  expect(seconds).toBeLessThan(SECONDS);
});

test("scoring that waits for a judge leaves within seconds, and holds nothing against anybody", async () => {
  const server = await serve(busy);
  const work = prepare(server.url);
  await work.run([
    "single",
    "--domains",
    "Domain1",
    "--base-path",
    "shop",
    ...SCRIPTED,
    "--output-dir",
    "out",
    "--quiet",
  ]);
  work.write("models.yml", `models: {m: {provider: openai, model: m, api_base: "${server.url}"}}\n`);
  const args = ["eval", "out", "--check", "quality", "--judge-model", "m", "--models-config", "models.yml"];
  const running = work.start(args);
  await waitFor(() => server.asked > 0, running);
  await pause(300);
  const { code, seconds } = await stop(running, "SIGHUP");
  expect(code).toBe(130);
  expect(seconds).toBeLessThan(SECONDS);
  expect(work.read("out/scores.jsonl")).toBe("");
});

test("a terminal that dies, with everybody who reads, does not break the run before it is parked", async () => {
  const server = await serve(busy);
  const work = prepare(server.url);
  const child = spawn(process.execPath, [PROGRAM, "run", "--config", "run.yml"], { cwd: work.path });
  const running = {
    child,
    finished: new Promise<Finished>((resolve) => {
      child.on("close", (code) => resolve({ code, stdout: "", stderr: "" }));
    }),
  };
  await waitFor(() => server.asked > 0, running);
  child.stdout.destroy();
  child.stderr.destroy();
  const { code, seconds } = await stop(running, "SIGHUP");
  expect([code, seconds < SECONDS]).toEqual([130, true]);
  expect(work.read("outputs/run/journal.jsonl")).toContain('"type":"run-end"');
  expect(work.has("outputs/run/lock")).toBe(false);
});

test("a timer that a dataset's code leaves behind does not keep a finished run alive", async () => {
  const work = workFolder();
  writeShop(work);
  const file = "shop/mcp_servers/Domain1.mjs";
  work.write(file, `setInterval(() => {}, 1000);\n${work.read(file)}`);
  const { code } = await work.run(["single", "--domains", "Domain1", "--base-path", "shop", ...SCRIPTED, "--quiet"]);
  expect(code).toBe(0);
});
