// What a run may be asked for on one machine it may be asked for on a queue, and several runs share one.
import { afterAll, expect, test } from "vitest";
import { PASSWORD } from "./support/postgres.ts";
import {
  closePostgres,
  QueueScene,
  RECORDS,
  type Spawned,
  serveCounted,
  servedConfig,
  until,
} from "./support/queue.ts";
import { itemQuery, SCRIPTED, writeShop } from "./support/shop-dataset.ts";

afterAll(closePostgres);

const SHOP = ["single", "--domains", "Domain1", "--base-path", "shop", ...SCRIPTED];
const OUTPUT = "outputs/single/trajectories/Domain1.jsonl";

async function openShop(...written: Parameters<typeof writeShop> extends [unknown, ...infer Rest] ? Rest : never) {
  const scene = await QueueScene.open();
  writeShop(scene.folder, ...written);
  return scene;
}

const ids = ({ folder }: QueueScene, file = OUTPUT) =>
  folder
    .records(file)
    .map(({ id }) => id)
    .sort();

test("more queries and more rollouts can be asked for later, and fewer for once", async () => {
  const scene = await openShop();
  scene.worker();
  const make = (...more: string[]) => scene.collect([...SHOP, ...more]).finished;
  expect(await make("--limit", "1")).toMatchObject({ code: 0 });
  expect(ids(scene)).toEqual(["q1"]);
  expect(await make("--rollouts", "2", "--limit", "2")).toMatchObject({ code: 0 });
  expect(ids(scene)).toEqual(["q1", "q1#1", "q2", "q2#1"]);
  expect(await make("--rollouts", "2")).toMatchObject({ code: 0 });
  expect(ids(scene)).toEqual(["q1", "q1#1", "q2", "q2#1", "q3", "q3#1"]);
  expect(await make("--rollouts", "2")).toMatchObject({ code: 0 });
  await scene.folder.run([...SHOP, "--rollouts", "2", "--output-dir", "alone", "--quiet"]);
  expect(scene.folder.canonical(OUTPUT)).toEqual(scene.folder.canonical(OUTPUT.replace("outputs/single", "alone")));
});

test("rollouts that nobody wants any more are taken off the queue", async () => {
  const scene = await openShop();
  const first = scene.collect(SHOP);
  await until(async () => (await scene.count("rollout.rollouts")) === 3);
  first.child.kill("SIGKILL");
  await first.finished;
  const second = scene.collect([...SHOP, "--limit", "1"]);
  await until(async () => (await scene.count("rollout.rollouts")) === 1);
  scene.worker();
  expect(await second.finished).toMatchObject({ code: 0 });
  expect(ids(scene)).toEqual(["q1"]);
});

test("failures of the infrastructure exit with 3 and are tried three times in all", async () => {
  const { task_info: _, ...planless } = itemQuery("q2");
  const scene = await openShop({ queries: [itemQuery("q1"), { ...planless, task_info: {} }] });
  scene.worker();
  for (const _time of [1, 2, 3, 4]) expect(await scene.collect(SHOP).finished).toMatchObject({ code: 3 });
  const failures = scene.folder.records<{ id: string; attempt: number }>("outputs/single/failures.jsonl");
  expect(failures.map(({ id, attempt }) => [id, attempt])).toEqual([
    ["q2", 1],
    ["q2", 2],
    ["q2", 3],
  ]);
  expect(ids(scene)).toEqual(["q1"]);
});

test("changed settings are refused without showing the password; --allow-drift marks what it makes", async () => {
  const scene = await openShop();
  scene.worker();
  expect(await scene.collect([...SHOP, "--limit", "1"]).finished).toMatchObject({ code: 0 });
  const refused = await scene.collect([...SHOP, "--max-turns", "3"]).finished;
  expect(refused.code).toBe(2);
  expect(refused.stderr).toContain("max_turns");
  expect(refused.stderr).not.toContain(PASSWORD);
  expect(await scene.collect([...SHOP, "--max-turns", "3", "--allow-drift"]).finished).toMatchObject({ code: 0 });
  const drifted = scene.folder.records(OUTPUT).filter(({ metadata }) => (metadata as { drift?: boolean }).drift);
  expect(drifted.map(({ id }) => id).sort()).toEqual(["q2", "q3"]);
});

test("a budget stops the whole fleet with 4, and a larger one goes on where it stopped", async () => {
  const scene = await QueueScene.open();
  const server = await serveCounted({ least: 30, most: 60 });
  scene.folder.write("run.yml", servedConfig(server.url));
  scene.worker(["--max-workers", "2"]);
  scene.worker(["--max-workers", "2"]);
  const stopped = await scene.collect(["run", "--config", "run.yml", "--max-tokens-total", "60000"]).finished;
  expect(stopped.code).toBe(4);
  expect(await scene.count("rollout.rollouts WHERE worker IS NOT NULL")).toBe(0);
  const { asked } = server.requests();
  expect(await scene.collect(["run", "--config", "run.yml", "--max-tokens-total", "9000000"]).finished).toMatchObject({
    code: 0,
  });
  expect(server.requests().asked).toBeGreaterThan(asked);
  expect(server.repeated()).toBe(0);
  expect(scene.folder.records(RECORDS)).toHaveLength(6);
});

test("without its collector nothing is handed out of a run with a budget: nobody would stop it", async () => {
  const scene = await QueueScene.open();
  const server = await serveCounted({ least: 100, most: 200 });
  scene.folder.write("run.yml", servedConfig(server.url, { max_tokens_total: 9_000_000 }));
  const collector = scene.collect(["run", "--config", "run.yml"]);
  const worker = scene.worker(["--max-workers", "1"]);
  await until(() => server.requests().asked > 2);
  collector.child.kill("SIGKILL");
  // a worker may be between two rollouts while the collector still counts as there
  await until(async () => (await scene.count("rollout.runs WHERE collector_until > now()")) === 0);
  await until(async () => (await scene.count("rollout.rollouts WHERE worker IS NOT NULL")) === 0);
  const { asked } = server.requests();
  const once = await scene.worker(["--once"]).finished;
  expect(once).toMatchObject({ code: 0, stderr: expect.stringContaining("0 rollouts made") });
  expect(server.requests().asked).toBe(asked);
  expect(await scene.collect(["run", "--config", "run.yml"]).finished).toMatchObject({ code: 0 });
  expect(server.repeated()).toBe(0);
  worker.child.kill("SIGTERM");
});

test("several runs share a database: a worker serves all of them, or those that it is told to", async () => {
  const scene = await openShop();
  const only = scene.worker(["--run", "b"]);
  const runs = ["a", "b"].map((name) => scene.collect([...SHOP, "--output-dir", name]));
  const [a, b] = runs as [Spawned, Spawned];
  expect(await b.finished).toMatchObject({ code: 0 });
  only.child.kill("SIGTERM");
  expect(await only.finished).toMatchObject({ code: 130, stderr: expect.stringContaining("3 rollouts made") });
  expect(a.child.exitCode).toBe(null);
  const all = scene.worker();
  expect(await a.finished).toMatchObject({ code: 0 });
  expect(scene.folder.canonical("a/trajectories/Domain1.jsonl")).toEqual(
    scene.folder.canonical("b/trajectories/Domain1.jsonl"),
  );
  all.child.kill("SIGTERM");
});

test("--fleet-limit caps the whole run, however many workers there are", async () => {
  const scene = await QueueScene.open();
  const server = await serveCounted({ least: 20, most: 30 });
  scene.folder.write("run.yml", servedConfig(server.url));
  for (const _worker of [1, 2]) scene.worker(["--max-workers", "4"]);
  const collector = scene.collect(["run", "--config", "run.yml", "--fleet-limit", "2"]);
  let isOver = false;
  const finished = collector.finished.finally(() => {
    isOver = true;
  });
  const seen: number[] = [];
  await until(async () => {
    seen.push(await scene.count("rollout.rollouts WHERE worker IS NOT NULL"));
    return isOver;
  });
  expect(await finished).toMatchObject({ code: 0 });
  expect(Math.max(...seen)).toBe(2);
  expect(scene.folder.records(RECORDS)).toHaveLength(6);
  const alone = await scene.folder.run(["run", "--config", "run.yml", "--fleet-limit", "2"]);
  expect(alone).toMatchObject({ code: 2, stderr: expect.stringContaining("--queue") });
});
