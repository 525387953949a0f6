// Runs on a queue come out as they do on one machine.
import { afterAll, expect, test } from "vitest";
import { single } from "./support/cli.ts";
import { closePostgres, QueueScene, RECORDS, serveCounted, servedConfig, until } from "./support/queue.ts";

afterAll(closePostgres);

const SINGLE = "out/trajectories/StudentHealthServices.jsonl";

test("the run folder is the same as without a queue: files, records in canonical form, events of each rollout", async () => {
  const scene = await QueueScene.open();
  const { folder } = scene;
  const alone = await folder.run([...single("--limit", "6"), "--output-dir", "alone"]);
  expect(alone).toMatchObject({ code: 0 });
  const worker = scene.worker(["--max-workers", "3"]);
  const other = scene.worker(["--max-workers", "3"]);
  expect(await scene.collect(single("--limit", "6")).finished).toMatchObject({ code: 0, stderr: "" });
  expect(folder.canonical(SINGLE)).toEqual(folder.canonical(SINGLE.replace("out", "alone")));
  const names = (path: string) => folder.names().filter((name) => name === path);
  expect(names("out")).toEqual(["out"]);
  expect(events(folder.read("out/journal.jsonl"))).toEqual(events(folder.read("alone/journal.jsonl")));
  expect(prompts(folder.read("out/prompts.jsonl"))).toEqual(prompts(folder.read("alone/prompts.jsonl")));
  for (const { child, finished } of [worker, other]) {
    child.kill("SIGTERM");
    expect(await finished).toMatchObject({ code: 130 });
  }
  expect(await scene.query("SELECT FROM rollout.events")).toEqual([]);
  expect(await scene.query("SELECT FROM rollout.workers")).toEqual([]);
});

/** Each rollout's events in order, without what differs between runs. */
function events(journal: string): string[] {
  const lines = journal.trimEnd().split("\n");
  const all = lines.map((line) => JSON.parse(line) as { [member: string]: unknown });
  return all
    .filter(({ queryId }) => queryId !== undefined)
    .map(({ type, queryId, rollout, index, attempt, fingerprint }) =>
      [queryId, rollout, index ?? (type === "rollout-start" ? -1 : 1e6), type, attempt, fingerprint].join(" "),
    )
    .sort();
}

const prompts = (text: string) => text.trimEnd().split("\n").sort();

test("a worker that was started first waits; one with --once leaves when nothing is left", async () => {
  const scene = await QueueScene.open();
  const server = await serveCounted();
  scene.folder.write("run.yml", servedConfig(server.url));
  expect(await scene.worker(["--once"]).finished).toMatchObject({ code: 0 });
  const collector = scene.collect(["run", "--config", "run.yml"]);
  await until(async () => (await scene.count("rollout.rollouts")) === 6);
  const worker = scene.worker(["--once"]);
  expect(await worker.finished).toMatchObject({ code: 0, stderr: expect.stringContaining("6 rollouts made") });
  expect(await collector.finished).toMatchObject({ code: 0 });
  expect(scene.folder.records(RECORDS)).toHaveLength(6);
  expect(server.repeated()).toBe(0);
});
