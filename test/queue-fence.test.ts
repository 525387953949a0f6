// Fencing, against a real database: who may write what of a rollout that has changed hands.
import { randomUUID } from "node:crypto";
import pg from "pg";
import { afterAll, expect, onTestFinished, test } from "vitest";
import type { RunEvent } from "../src/core/index.ts";
import { Collecting } from "../src/queue/collect.ts";
import { Database } from "../src/queue/database.ts";
import { giveBackLost } from "../src/queue/lease.ts";
import { publishPlan } from "../src/queue/publish.ts";
import { openQueue } from "../src/queue/schema.ts";
import { QueueStore } from "../src/queue/store.ts";
import { takeRollouts } from "../src/queue/take.ts";
import { LostRollout, type PlannedRollout, type RunPlan } from "../src/runner/index.ts";
import type { RunFolder } from "../src/runs/index.ts";
import { closePostgres, QueueScene, until } from "./support/queue.ts";

afterAll(closePostgres);

const KEY = { dataset: "Shop", queryId: "q\u0000 \ud800", rollout: 0 };
const AT = "2026-11-16T00:00:00.000Z";
const entry = (index: number, content: string) =>
  ({
    ...KEY,
    type: "entry-end",
    index,
    entry: { type: "tool-result", callId: "c", content, isError: false, at: AT },
  }) as RunEvent;
const start = (continued = 0): RunEvent => ({
  ...KEY,
  type: "rollout-start",
  at: AT,
  attempt: 1,
  fingerprint: "f",
  continued,
});

async function openScene() {
  const scene = await QueueScene.open();
  const database = await Database.open(scene.url, { say: () => {} });
  const jobs = await openQueue(database);
  onTestFinished(async () => {
    await jobs.close();
    await database.close();
  });
  const run = randomUUID();
  await jobs.createQueue(run);
  await scene.query(
    `INSERT INTO rollout.runs (id, name, folder, host, program_version, bundle, bundle_hash, needs, has_budget, state)
     VALUES ($1, 'r', '/r', 'h', '0', '{}', '', '{}', false, 'open')`,
    [run],
  );
  const planned = { key: KEY, attempt: 1, fingerprint: "f", drift: false, recorded: [], sent: new Map() };
  const plan = { rollouts: [planned as unknown as PlannedRollout], size: 1 } as unknown as RunPlan;
  await publishPlan({ database, jobs, run, stamp: 1 }, plan, () => false);
  const store = () => new QueueStore({ database, jobs, run }, () => {});
  const take = async (worker: string, held: string[] = []) => {
    const [taken] = await takeRollouts({ database, jobs, worker, run }, 4, () => held);
    return taken;
  };
  const lose = () => giveBackLost(database, jobs, 0, { forgotten: true });
  return { scene, database, jobs, run, store, take, lose };
}

type Taken = NonNullable<Awaited<ReturnType<Awaited<ReturnType<typeof openScene>>["take"]>>>;

test("what a worker writes of a rollout that another took is refused; the other goes on from the last entry", async () => {
  const { scene, store, take, lose } = await openScene();
  const [slow, other] = [store(), store()];
  slow.hold((await take(randomUUID())) as Taken);
  await slow.record(start());
  await slow.record(entry(0, "first"));
  await lose();
  const taken = (await take(randomUUID())) as Taken;
  expect(taken.events.map(({ type }) => type)).toEqual(["rollout-start", "entry-end"]);
  other.hold(taken);
  await expect(slow.record(entry(1, "late"))).rejects.toBeInstanceOf(LostRollout);
  await other.record(start(1));
  await other.record(entry(1, "second"));
  const bodies = await scene.query<{ body: string }>("SELECT body FROM rollout.events ORDER BY seq");
  expect(bodies.map(({ body }) => JSON.parse(body).entry?.content)).toEqual([undefined, "first", undefined, "second"]);
  expect(JSON.parse(bodies[0]?.body ?? "")).toEqual(start());
});

test("a worker that takes a rollout again which it still plays does not mistake the old for the new", async () => {
  const { scene, store, take, lose } = await openScene();
  const worker = randomUUID();
  const own = store();
  expect(own.hold((await take(worker)) as Taken)).toBe(true);
  await own.record(start());
  await lose();
  expect(own.hold((await take(worker)) as Taken)).toBe(false);
  await expect(own.record(entry(0, "old"))).rejects.toBeInstanceOf(LostRollout);
  expect(await scene.count("rollout.events")).toBe(1);
  let again: Taken | undefined;
  await until(async () => {
    again = await take(worker);
    return again !== undefined;
  });
  expect(own.hold(again as Taken)).toBe(true);
  await own.record(start());
  expect(await scene.count("rollout.events")).toBe(2);
});

test("a worker that slept past its lease takes nothing until it has said that it lives", async () => {
  const { scene, take } = await openScene();
  const worker = randomUUID();
  const lease = (seconds: number) =>
    scene.query(
      `INSERT INTO rollout.workers (id, host, pid, program_version, lease_until)
       VALUES ($1, 'h', 1, '0', now() + make_interval(secs => $2))
       ON CONFLICT (id) DO UPDATE SET lease_until = now() + make_interval(secs => $2)`,
      [worker, seconds],
    );
  await lease(-1);
  expect(await take(worker)).toBe(undefined);
  await lease(60);
  expect(await take(worker)).toBeDefined();
});

test("a worker that never heard of what it took gives it back when it asks again", async () => {
  const { scene, database, jobs, run, take } = await openScene();
  const worker = randomUUID();
  await take(worker);
  expect(await take(randomUUID())).toBe(undefined);
  let tries = 0;
  const broken = Object.assign(Object.create(database), {
    patiently: database.patiently.bind(database),
    tryTransaction: async (work: Parameters<Database["tryTransaction"]>[0]) => {
      if (tries++ === 0) {
        await database.tryTransaction(work);
        throw Object.assign(new Error("Connection terminated unexpectedly"), { code: "ECONNRESET" });
      }
      return database.tryTransaction(work);
    },
  }) as Database;
  const taken = await takeRollouts({ database: broken, jobs, worker, run }, 4, () => []);
  expect(taken).toHaveLength(1);
  expect(await scene.count("rollout.rollouts WHERE worker IS NOT NULL")).toBe(1);
});

test("an event that is committed late, with a lower number, is collected all the same", async () => {
  const { scene, database, run, store, take } = await openScene();
  const late = new pg.Client({ connectionString: scene.url });
  await late.connect();
  await late.query("BEGIN");
  const note = (message: string): RunEvent => ({ type: "run-note", at: AT, message });
  await late.query("INSERT INTO rollout.events (run, type, body) VALUES ($1, 'run-note', $2)", [
    run,
    JSON.stringify(note("late")),
  ]);
  const own = store();
  own.hold((await take(randomUUID())) as Taken);
  await own.record(start());
  const told: string[] = [];
  const sink = {
    folder: {} as RunFolder,
    record: async (event: RunEvent) => void told.push(event.type),
    tell: (event: RunEvent) => void told.push((event as { message: string }).message),
  };
  const collecting = new Collecting(database, run, sink);
  expect(await collecting.collect()).toBe(1);
  await late.query("COMMIT");
  await late.end();
  expect(await collecting.collect()).toBe(1);
  expect(await collecting.collect()).toBe(0);
  expect(told).toEqual(["rollout-start", "late"]);
});
