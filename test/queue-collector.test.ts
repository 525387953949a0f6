// The collector may die, and the database may go away or be lost: what was collected is kept, what was made meanwhile is
// collected by the same command.
import { cpSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { afterAll, expect, onTestFinished, test } from "vitest";
import { PASSWORD, startPostgres } from "./support/postgres.ts";
import { closePostgres, QueueScene, RECORDS, until } from "./support/queue.ts";
import { beginRun, collected, expectWhole, LIMIT, RUN } from "./support/queue-run.ts";

afterAll(closePostgres);

const FULL_DISK = fileURLToPath(new URL("./support/full-disk.mjs", import.meta.url));
const WORKERS = [["--max-workers", "4"]];

test("workers go on without a collector, and the same command collects what was made meanwhile", async () => {
  const { scene, server, collector, calls } = await beginRun({ workers: WORKERS });
  await until(() => collected(scene) > 4);
  collector.child.kill("SIGKILL");
  await collector.finished;
  await until(async () => (await scene.count("rollout.rollouts WHERE NOT is_ended")) === 0);
  expect(await scene.collect(RUN).finished).toMatchObject({ code: 0 });
  expectWhole(scene);
  expect(server.requests().asked).toBe(calls);
});

test("a collector that was killed before it marked what it had written writes nothing twice", async () => {
  const { scene, server, collector, calls } = await beginRun({ workers: WORKERS });
  await until(() => collected(scene) > 30);
  collector.child.kill("SIGKILL");
  await collector.finished;
  expect(await scene.count("rollout.events WHERE is_collected")).toBeGreaterThan(0);
  await scene.query("UPDATE rollout.events SET is_collected = false");
  expect(await scene.collect(RUN).finished).toMatchObject({ code: 0 });
  expectWhole(scene);
  expect(server.requests().asked).toBe(calls);
});

test("a second collector refuses and names the first, also one with a copy of the folder", async () => {
  const { scene, collector } = await beginRun({ workers: [] });
  await until(async () => (await scene.count("rollout.rollouts")) === LIMIT);
  const second = await scene.collect(RUN).finished;
  expect(second.code).toBe(2);
  expect(second.stderr).toContain(`in use by process ${collector.child.pid} on`);
  cpSync(`${scene.folder.path}/out`, `${scene.folder.path}/copy`, { recursive: true });
  scene.folder.remove("copy/lock");
  const third = await scene.collect([...RUN, "--output-dir", "copy"]).finished;
  expect(third.code).toBe(2);
  expect(third.stderr).toContain(`is being collected by process ${collector.child.pid} on`);
  expect(third.stderr).not.toContain(PASSWORD);
});

test("a lost database loses only what was not collected: the same command goes on with an empty one", async () => {
  const { scene, server, workers, collector, calls } = await beginRun({ workers: WORKERS });
  await until(() => collected(scene) > 30);
  for (const { child } of [collector, ...workers]) child.kill("SIGKILL");
  await collector.finished;
  const kept = collected(scene);
  const empty = await QueueScene.open();
  const worker = scene.start(["worker", empty.url, "--max-workers", "4"]);
  const again = scene.start([...RUN, "--queue", empty.url, "--quiet"]);
  expect(await again.finished).toMatchObject({ code: 0 });
  expectWhole(scene);
  expect(server.requests().asked).toBe(calls + server.repeated());
  expect(server.repeated()).toBeLessThan(calls - kept / 2);
  worker.child.kill("SIGTERM");
  await worker.finished;
});

test("the collector's disk is full: it waits and says so, workers keep going, and all of it is collected", async () => {
  const { scene, server, collector: first, calls } = await beginRun({ workers: WORKERS });
  await until(() => collected(scene) > 0);
  first.child.kill("SIGINT");
  await first.finished;
  const full = `${scene.folder.path}/full`;
  const env = { NODE_OPTIONS: `--import ${FULL_DISK}`, FULL_WHILE: full };
  const collector = scene.start([...RUN, "--queue", scene.url], env);
  const before = collected(scene);
  await until(() => collected(scene) > before);
  scene.folder.write("full", "");
  await until(() => /No space left/.test(collector.said()));
  await until(async () => (await scene.count("rollout.rollouts WHERE NOT is_ended")) === 0);
  scene.folder.remove("full");
  expect(await collector.finished).toMatchObject({ code: 0, stdout: expect.stringContaining("There is room again") });
  expectWhole(scene);
  expect(server.requests().asked).toBe(calls);
});

test("a database that restarts is waited for: that is said once, and nothing is lost or paid for twice", async () => {
  const postgres = await startPostgres();
  onTestFinished(() => postgres.close());
  const { scene, server, workers, collector, calls } = await beginRun({ workers: WORKERS, postgres });
  await until(() => collected(scene) > 4);
  await postgres.stop();
  const [worker] = workers;
  await until(() => /cannot be reached/.test(worker?.said() ?? ""));
  await until(() => /cannot be reached/.test(collector.said()));
  await postgres.start();
  expect(await collector.finished).toMatchObject({ code: 0 });
  expectWhole(scene);
  expect(server.requests().asked).toBe(calls);
  for (const said of [worker?.said(), collector.said()]) {
    expect(said?.match(/cannot be reached/g)).toHaveLength(1);
    expect(said?.match(/is back/g)).toHaveLength(1);
    expect(said).not.toContain(PASSWORD);
  }
  expect(scene.folder.records(RECORDS)).toHaveLength(LIMIT);
});
