// What people see of many machines: `queue list`, `queue drop`, and the workers in `status`.
import { hostname } from "node:os";
import { afterAll, expect, test } from "vitest";
import { single } from "./support/cli.ts";
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
import { RUN } from "./support/queue-run.ts";
import { startView } from "./support/view-server.ts";

afterAll(closePostgres);

const SLOW = { least: 150, most: 250 };

type Listed = {
  place: string;
  runs: { [member: string]: unknown }[];
  workers: { pid: number; inFlight: number; perSecond: number; isAlive: boolean; runs: string[] }[];
};

async function list(scene: QueueScene): Promise<Listed> {
  const { code, stdout, stderr } = await scene.run(["queue", "list", scene.url, "--json"]);
  expect([code, stderr]).toEqual([0, ""]);
  expect(stdout).not.toContain(PASSWORD);
  return JSON.parse(stdout) as Listed;
}

const drop = (scene: QueueScene, ...words: string[]) => scene.run(["queue", "drop", scene.url, ...words]);

/** A run of slow models with one worker, in the middle of it. */
async function beginSlowly(): Promise<{ scene: QueueScene; collector: Spawned; worker: Spawned }> {
  const scene = await QueueScene.open();
  const server = await serveCounted(SLOW);
  scene.folder.write("run.yml", servedConfig(server.url));
  const worker = scene.worker(["--max-workers", "2"]);
  const collector = scene.collect(RUN);
  await until(async () => (await scene.count("rollout.rollouts WHERE worker IS NOT NULL")) === 2);
  await until(async () => (await scene.count("rollout.workers WHERE cardinality(runs) = 1")) === 1);
  return { scene, collector, worker };
}

test("a queue that nobody has used is empty, and looking at it makes nothing there", async () => {
  const scene = await QueueScene.open();
  expect(await list(scene)).toMatchObject({ runs: [], workers: [], bytes: 0 });
  expect(await drop(scene, "example")).toMatchObject({ code: 2, stderr: expect.stringMatching(/^There is no run/) });
  expect(await scene.query("SELECT FROM pg_namespace WHERE nspname LIKE 'rollout%'")).toEqual([]);
});

test.each([
  ["a wrong password", (url: string) => url.replace(PASSWORD, "not-the-word"), /refuses the login of postgres/],
  ["a database that is not there", (url: string) => url.replace(/\w+$/, "elsewhere"), /no database "elsewhere"/],
  ["a port where nobody listens", (url: string) => url.replace(/:\d+\//, ":1/"), /cannot be reached/],
  ["another kind of address", (url: string) => url.replace("postgres", "mysql"), /address of a PostgreSQL database/],
])("%s is told in one sentence, without the password", async (_, spoil, sentence) => {
  const scene = await QueueScene.open();
  const url = spoil(scene.url);
  for (const words of [
    ["list", url],
    ["drop", url, "example"],
  ]) {
    const { code, stdout, stderr } = await scene.run(["queue", ...words]);
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toMatch(sentence);
    expect(stderr.trimEnd().split("\n")).toHaveLength(1);
    expect(stderr).not.toMatch(/4711|not-the-word/);
  }
});

test("tables of a newer version are left alone, and the version is named", async () => {
  const scene = await QueueScene.open();
  await scene.query(
    "CREATE SCHEMA rollout; CREATE TABLE rollout.meta (schema_version integer); INSERT INTO rollout.meta VALUES (99)",
  );
  for (const words of [
    ["list", scene.url],
    ["drop", scene.url, "example"],
  ])
    expect(await scene.run(["queue", ...words])).toMatchObject({ code: 2, stderr: expect.stringContaining("99") });
});

test("the list shows runs and workers, and status shows the workers without knowing the database", async () => {
  const { scene, collector, worker } = await beginSlowly();
  const { runs, workers } = await list(scene);
  expect(runs).toMatchObject([
    {
      ...{ name: "out", state: "open", planned: 6, failed: 0, inFlight: 2 },
      collector: { host: hostname(), pid: collector.child.pid, isAlive: true },
    },
  ]);
  expect(workers).toMatchObject([{ pid: worker.child.pid, inFlight: 2, isAlive: true, runs: [runs[0]?.id] }]);
  const { stdout } = await scene.run(["queue", "list", scene.url]);
  expect(stdout).toMatch(
    new RegExp(`\\nout +\\w{8} +open +${hostname()} \\(alive, process ${collector.child.pid}\\) +6 `),
  );
  expect(stdout).toMatch(new RegExp(`\\n${hostname()} +${worker.child.pid} +2 .* seen .* ago .* out`));

  await until(
    () => scene.folder.has("out/endpoints.json") && scene.folder.read("out/endpoints.json").includes('"pid"'),
  );
  const status = await scene.run(["status", "out"]);
  expect(status.stdout).toMatch(/\n1 worker on 1 host: \d in flight, /);
  expect(status.stdout).toMatch(new RegExp(`\\n  ${hostname()} +${worker.child.pid} +\\d in flight .* seen .* ago`));
  const json = JSON.parse((await scene.run(["status", "out", "--json"])).stdout);
  expect(json.workers).toMatchObject([{ host: hostname(), pid: worker.child.pid, isAlive: true }]);
  for (const file of ["out/manifest.json", "out/endpoints.json", "out/journal.jsonl"])
    expect(scene.folder.read(file)).not.toContain(new URL(scene.url).host);

  const { origin, cookie } = await startView([`${scene.folder.path}/out`]);
  const seen = async () => {
    const answer = await fetch(`${origin}/api/run/out`, { headers: { cookie } });
    return ((await answer.json()) as { workers?: object[] }).workers;
  };
  await until(async () => (await seen())?.length === 1);
  expect(await seen()).toMatchObject([{ host: hostname(), pid: worker.child.pid }]);

  worker.child.kill("SIGKILL");
  await until(async () => (await list(scene)).workers[0]?.isAlive === false);
  expect((await scene.run(["queue", "list", scene.url])).stdout).toContain("silent for");
  scene.worker(["--max-workers", "8"]);
  expect(await collector.finished).toMatchObject({ code: 0 });
  const [over] = (await list(scene)).runs;
  expect(over).toMatchObject({ state: "done", planned: 6, done: 6, inFlight: 0, waiting: 0 });
  expect(over).toMatchObject({ collector: { isAlive: false }, uncollected: { entries: 0, records: 0 } });
  expect(JSON.parse((await scene.run(["status", "out", "--json"])).stdout).workers).toBeUndefined();
});

test("a run in use is dropped only by force; its collector says so, and its worker serves other runs", async () => {
  const { scene, collector, worker } = await beginSlowly();
  const refused = await drop(scene, "out");
  expect(refused).toMatchObject({ code: 2, stdout: "" });
  expect(refused.stderr).toContain(`process ${collector.child.pid} on ${hostname()} collects it`);
  expect(refused.stderr).toContain(`worker ${worker.child.pid} on ${hostname()} serves it`);
  expect(await drop(scene, "out", "--force")).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^out is off the queue/),
  });
  const { code, stderr } = await collector.finished;
  expect([code, stderr]).toEqual([2, expect.stringContaining("no longer on the queue: somebody dropped it")]);
  for (const table of ["runs", "rollouts", "events", "run_files"])
    expect([table, await scene.count(`rollout.${table}`)]).toEqual([table, 0]);
  expect(await scene.count("rollout_jobs.job")).toBe(0);
  expect(await scene.collect([...single("--limit", "3"), "--output-dir", "other"]).finished).toMatchObject({ code: 0 });
  expect(worker.child.exitCode).toBeNull();
  // what was collected is still there, and the same command goes on from it
  expect(await scene.collect(RUN).finished).toMatchObject({ code: 0 });
  expect(scene.folder.records(RECORDS)).toHaveLength(6);
});

test("what nobody has collected is lost only by force, and is counted", async () => {
  const { scene, collector, worker } = await beginSlowly();
  collector.child.kill("SIGKILL");
  await collector.finished;
  await until(async () => (await scene.count("rollout.events WHERE type = 'record' AND NOT is_collected")) > 0);
  worker.child.kill("SIGTERM");
  await worker.finished;
  const [run] = (await list(scene)).runs as [{ uncollected: { entries: number; records: number } }];
  const { entries, records } = run.uncollected;
  expect(run).toMatchObject({ collector: { isAlive: false }, inFlight: 0 });
  const lost = `${entries} entries and ${records} ${records === 1 ? "record" : "records"}`;
  const refused = await drop(scene, "out");
  expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining(`${lost} not yet collected`) });
  expect(await scene.count("rollout.runs")).toBe(1);
  const dropped = await drop(scene, "out", "--force");
  expect(dropped).toMatchObject({ code: 0, stdout: expect.stringContaining(`lost with it: ${lost}`) });
});

test("files go with the last run that needs them; runs of one name are told apart by their ids", async () => {
  const scene = await QueueScene.open();
  scene.worker();
  for (const folder of ["a/same", "b/same"])
    expect(await scene.collect([...single("--limit", "1"), "--output-dir", folder]).finished).toMatchObject({
      code: 0,
    });
  const [first, second] = (await list(scene)).runs.map(({ id }) => id as string) as [string, string];
  await scene.query(
    `INSERT INTO rollout.files (hash, part, bytes)
     SELECT hash, part, '\\x00' FROM unnest('{shared,own,left}'::text[]) AS h (hash), generate_series(-1, 1) AS p (part)`,
  );
  for (const [run, hash] of [
    [first, "shared"],
    [second, "shared"],
    [first, "own"],
  ])
    await scene.query("INSERT INTO rollout.run_files (run, hash) VALUES ($1, $2)", [run, hash]);
  const own = ["shared", "own", "left"];
  const files = () => scene.query("SELECT DISTINCT hash FROM rollout.files WHERE hash = ANY($1) ORDER BY 1", [own]);
  const which = await drop(scene, "same");
  expect(which).toMatchObject({ code: 2, stderr: expect.stringContaining("There are 2 runs") });
  expect(which.stderr).toContain(first.slice(0, 8));
  expect(await drop(scene, first.slice(0, 8))).toMatchObject({ code: 0 });
  expect(await files()).toEqual([{ hash: "shared" }]);
  expect((await list(scene)).runs).toMatchObject([{ id: second }]);
  expect(await drop(scene, "same")).toMatchObject({ code: 0 });
  expect(await files()).toEqual([]);
});
