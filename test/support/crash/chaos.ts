// Rounds of trouble for a run on a queue: workers and collectors killed, workers stopped past their lease, the database
// restarted. What comes out is compared with the run on one machine; calls are counted at the model server.
import { createRandom, type Random } from "../../../src/core/index.ts";
import type { Postgres } from "../postgres.ts";
import { type Spawned, until } from "../queue.ts";
import { type BegunRun, beginRun, collected, RUN } from "../queue-run.ts";

/** Rollouts at once of each worker: so many calls can be in flight when one is killed. */
const AT_ONCE = 3;
const WORKERS = 2;
const KINDS = ["worker", "collector", "worker", "sleep", "database", "both"] as const;

type Chaos = BegunRun & {
  /** calls that may have been in flight when somebody was killed or put to sleep */
  inFlight: number;
  rounds: string[];
};

export async function playChaos(
  postgres: Postgres,
  { rounds, seed, limit }: { rounds: number; seed: number; limit: number },
) {
  const workers = Array.from({ length: WORKERS }, () => ["--max-workers", String(AT_ONCE)]);
  // long enough for so many rounds
  const latency = { least: 20 * rounds, most: 60 * rounds };
  const run = await beginRun({ workers, more: { limit }, postgres, latency });
  const chaos: Chaos = { ...run, inFlight: 0, rounds: [] };
  const random = createRandom(seed);
  for (let round = 0; round < rounds; round++) {
    const before = collected(chaos.scene);
    const isOver = () => chaos.collector.child.exitCode !== null;
    const wanted = before + 1 + random.int(8);
    await until(() => collected(chaos.scene) >= wanted || isOver());
    if (isOver()) break;
    await trouble(chaos, random.pick(KINDS), random);
  }
  const { code, stderr } = await chaos.collector.finished;
  for (const { child } of chaos.workers) child.kill("SIGTERM");
  return { ...chaos, code, stderr };
}

async function trouble(chaos: Chaos, kind: (typeof KINDS)[number], random: Random): Promise<void> {
  chaos.rounds.push(kind);
  const index = random.int(chaos.workers.length);
  if (kind === "worker" || kind === "both") await killWorker(chaos, index);
  if (kind === "collector" || kind === "both") await killCollector(chaos);
  if (kind === "database") await chaos.scene.postgres.restart();
  if (kind === "sleep") await sleepThrough(chaos, chaos.workers[index] as Spawned);
}

async function killWorker(chaos: Chaos, index: number): Promise<void> {
  const worker = chaos.workers[index] as Spawned;
  worker.child.kill("SIGKILL");
  await worker.finished;
  chaos.inFlight += AT_ONCE;
  chaos.workers[index] = chaos.scene.worker(["--max-workers", String(AT_ONCE)]);
}

async function killCollector(chaos: Chaos): Promise<void> {
  chaos.collector.child.kill("SIGKILL");
  await chaos.collector.finished;
  chaos.collector = chaos.scene.start([...RUN, "--queue", chaos.scene.url]);
}

/** Until nothing is its own any more. */
async function sleepThrough(chaos: Chaos, { child }: Spawned): Promise<void> {
  const { scene } = chaos;
  child.kill("SIGSTOP");
  const holds = `rollout.rollouts JOIN rollout.workers w ON w.id = worker WHERE w.pid = ${child.pid}`;
  await until(async () => (await scene.count(holds)) === 0);
  chaos.inFlight += AT_ONCE;
  child.kill("SIGCONT");
}
