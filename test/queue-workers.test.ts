// Workers come and go: killed, stopped, told to leave. Nothing is lost, doubled or paid for twice but what was in flight.
import { afterAll, expect, test } from "vitest";
import { closePostgres, type Spawned, until } from "./support/queue.ts";
import { beginRun, collected, expectWhole, heldBy, RUN } from "./support/queue-run.ts";

afterAll(closePostgres);

test("a killed worker's rollouts are gone on with elsewhere, from their last entry", async () => {
  const { scene, server, workers, collector, calls } = await beginRun({ workers: [["--max-workers", "4"]] });
  const [first] = workers as [Spawned];
  await until(async () => (await heldBy(scene, first)) === 4 && (await scene.count("rollout.events")) > 12);
  first.child.kill("SIGKILL");
  scene.worker(["--max-workers", "4"]);
  expect(await collector.finished).toMatchObject({ code: 0 });
  expectWhole(scene);
  const { asked } = server.requests();
  expect(asked).toBeGreaterThanOrEqual(calls);
  expect(server.repeated()).toBe(asked - calls);
  expect(server.repeated()).toBeLessThanOrEqual(4);
});

test("SIGTERM: what is in flight is answered, given back, and nothing is paid for twice", async () => {
  const { scene, server, workers, collector, calls } = await beginRun({ workers: [["--max-workers", "4"]] });
  const [first] = workers as [Spawned];
  await until(async () => (await heldBy(scene, first)) === 4 && (await scene.count("rollout.events")) > 12);
  first.child.kill("SIGTERM");
  expect(await first.finished).toMatchObject({ code: 130 });
  expect(await scene.count("rollout.rollouts WHERE worker IS NOT NULL")).toBe(0);
  scene.worker(["--max-workers", "4"]);
  expect(await collector.finished).toMatchObject({ code: 0 });
  expectWhole(scene);
  expect(server.requests().asked).toBe(calls);
});

test("a worker that was thought dead and wakes up writes nothing any more, and takes other work", async () => {
  const { scene, server, workers, collector, calls } = await beginRun({ workers: [["--max-workers", "3"]] });
  const [sleeper] = workers as [Spawned];
  await until(async () => (await heldBy(scene, sleeper)) === 3 && (await scene.count("rollout.events")) > 9);
  sleeper.child.kill("SIGSTOP");
  const held = await scene.query<{ id: string; fence: number }>(
    "SELECT id, fence FROM rollout.rollouts WHERE worker IS NOT NULL",
  );
  const other = scene.worker(["--max-workers", "1"]);
  // one of them is somebody else's now
  await until(async () => (await heldBy(scene, other)) > 0);
  await until(async () => (await heldBy(scene, sleeper)) === 0);
  const ids = held.map(({ id }) => id);
  sleeper.child.kill("SIGCONT");
  expect(await collector.finished).toMatchObject({ code: 0 });
  expectWhole(scene);
  expect(ids).toHaveLength(3);
  expect(server.repeated()).toBeLessThanOrEqual(3);
  expect(server.requests().asked).toBe(calls + server.repeated());
  sleeper.child.kill("SIGTERM");
  expect(await sleeper.finished).toMatchObject({ code: 130 });
});

test("Ctrl-C at the collector parks the fleet's work, and the same command goes on from there", async () => {
  const { scene, server, collector, calls } = await beginRun({
    workers: [
      ["--max-workers", "3"],
      ["--max-workers", "3"],
    ],
  });
  await until(() => collected(scene) > 0);
  collector.child.kill("SIGINT");
  expect(await collector.finished).toMatchObject({
    code: 130,
    stderr: expect.stringContaining("npx rollout resume out"),
  });
  expect(await scene.count("rollout.rollouts WHERE worker IS NOT NULL")).toBe(0);
  expect(await scene.count("rollout.events WHERE NOT is_collected")).toBe(0);
  const asked = server.requests().asked;
  expect(asked).toBeLessThan(calls);
  expect(await scene.collect(RUN).finished).toMatchObject({ code: 0 });
  expectWhole(scene);
  expect(server.requests().asked).toBe(calls);
});
