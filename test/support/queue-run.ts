// A run begun on a queue beside the same run made on one machine, and what must be equal at the end.
import { expect } from "vitest";
import type { Postgres } from "./postgres.ts";
import { type Counted, QueueScene, RECORDS, type Spawned, serveCounted, servedConfig } from "./queue.ts";

export const LIMIT = 8;
const SLOW = { least: 60, most: 120 };
const ALONE = RECORDS.replace("out", "alone");
export const RUN = ["run", "--config", "run.yml"];

export type BegunRun = {
  scene: QueueScene;
  server: Counted;
  workers: Spawned[];
  collector: Spawned;
  /** that the run makes on one machine */
  calls: number;
};

type Begin = { workers: string[][]; more?: object; postgres?: Postgres; latency?: { least: number; most: number } };

export async function beginRun({ workers, more, postgres, latency = SLOW }: Begin): Promise<BegunRun> {
  const scene = await QueueScene.open(postgres);
  const quick = await serveCounted({ least: 0, most: 0 });
  const config = { limit: LIMIT, ...more };
  scene.folder.write("alone.yml", servedConfig(quick.url, { ...config, output_dir: "alone" }));
  expect(await scene.run(["run", "--config", "alone.yml", "--quiet"])).toMatchObject({ code: 0 });
  const server = await serveCounted(latency);
  scene.folder.write("run.yml", servedConfig(server.url, config));
  const started = workers.map((args) => scene.worker(args));
  const collector = scene.start([...RUN, "--queue", scene.url]);
  return { scene, server, workers: started, collector, calls: quick.requests().asked };
}

/** Nothing is lost or doubled, in records or in the journal. */
export function expectWhole({ folder }: QueueScene): void {
  expect(folder.canonical(RECORDS)).toEqual(folder.canonical(ALONE));
  const lines = folder.read("out/journal.jsonl").trimEnd().split("\n");
  const entries = lines
    .map((line) => JSON.parse(line) as { type: string; queryId: string; index: number })
    .filter(({ type }) => type === "entry-end")
    .map(({ queryId, index }) => `${queryId} ${index}`);
  expect(entries.filter((entry, place) => entries.indexOf(entry) !== place)).toEqual([]);
}

export const heldBy = (scene: QueueScene, { child }: Spawned) =>
  scene.count(`rollout.rollouts JOIN rollout.workers w ON w.id = worker WHERE w.pid = ${child.pid}`);

/** Entries that the collector has put into the folder. */
export function collected({ folder }: QueueScene): number {
  if (!folder.has("out/journal.jsonl")) return 0;
  return folder.read("out/journal.jsonl").split('"type":"entry-end"').length - 1;
}
