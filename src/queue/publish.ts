// Handing out a plan: one row and one job for each rollout that is not on the queue yet. What is there already stays as it
// is, unless it was planned under other settings; what is there and not in the plan is taken away.
import { randomBytes } from "node:crypto";
import type { PlannedRollout, RunPlan } from "../runner/index.ts";
import { keyText } from "../runs/index.ts";
import type { Connection, Database } from "./database.ts";
import type { Jobs } from "./jobs.ts";
import { toTask } from "./task.ts";

type Place = { database: Database; jobs: Jobs; run: string; stamp: number };

/** Rollouts in one transaction. */
const MAX_ROWS = 200;

/** Resolves when all of the plan is on the queue, or `isStopped`. */
export async function publishPlan(place: Place, plan: RunPlan, isStopped: () => boolean): Promise<void> {
  const nextId = createIds();
  let batch: PlannedRollout[] = [];
  const send = async () => {
    const rollouts = batch;
    batch = [];
    if (rollouts.length > 0) await publish(place, rollouts, nextId);
  };
  for (const planned of plan.rollouts) {
    if (isStopped()) return;
    batch.push(planned);
    if (batch.length === MAX_ROWS) await send();
  }
  await send();
  if (!isStopped()) await retireOthers(place);
}

async function publish({ database, jobs, run, stamp }: Place, rollouts: PlannedRollout[], nextId: () => string) {
  const tasks = rollouts.map((planned) => ({ ...toTask(planned), text: keyText(planned.key), job: nextId() }));
  await database.transaction(async (connection) => {
    const there = await connection.query<{ key: string; fingerprint: string; is_ended: boolean }>(
      `UPDATE rollout.rollouts SET stamp = $3 WHERE run = $1 AND key = ANY($2::text[]) RETURNING key, fingerprint, is_ended`,
      [run, tasks.map(({ text }) => text), stamp],
    );
    const known = new Map(there.map((row) => [row.key, row]));
    const others = tasks.filter(({ text, fingerprint }) => {
      const row = known.get(text);
      return row && !row.is_ended && row.fingerprint !== fingerprint;
    });
    await retire(
      { jobs, run },
      others.map(({ text }) => text),
      connection,
    );
    const missing = tasks.filter(({ text }) => !known.has(text)).concat(others);
    if (missing.length === 0) return;
    await connection.query(
      `INSERT INTO rollout.rollouts (run, key, fingerprint, task, job, stamp)
       SELECT $1, key, fingerprint, task, job, $2
       FROM unnest($3::text[], $4::text[], $5::text[], $6::uuid[]) AS t (key, fingerprint, task, job)`,
      [
        run,
        stamp,
        missing.map(({ text }) => text),
        missing.map(({ fingerprint }) => fingerprint),
        missing.map(({ text: _text, job: _job, ...task }) => JSON.stringify(task)),
        missing.map(({ job }) => job),
      ],
    );
    await jobs.add(
      run,
      missing.map(({ job }) => job),
      connection,
    );
  });
}

/** Whoever plays one of these can write nothing of it any more. */
async function retire({ jobs, run }: Pick<Place, "jobs" | "run">, keys: string[], connection: Connection) {
  if (keys.length === 0) return;
  const gone = await connection.query<{ job: string }>(
    "DELETE FROM rollout.rollouts WHERE run = $1 AND key = ANY($2::text[]) RETURNING job",
    [run, keys],
  );
  await jobs.remove(
    run,
    gone.map(({ job }) => job),
    connection,
  );
}

async function retireOthers({ database, jobs, run, stamp }: Place): Promise<void> {
  await database.transaction(async (connection) => {
    const gone = await connection.query<{ job: string }>(
      "DELETE FROM rollout.rollouts WHERE run = $1 AND stamp <> $2 AND NOT is_ended RETURNING job",
      [run, stamp],
    );
    await jobs.remove(
      run,
      gone.map(({ job }) => job),
      connection,
    );
  });
}

/** In the order of the plan: jobs that were made at the same time are taken in the order of their ids. */
function createIds(): () => string {
  const time = Date.now().toString(16).padStart(12, "0");
  const own = randomBytes(2).toString("hex").slice(1);
  let count = 0;
  return () => {
    const number = (count++).toString(16).padStart(15, "0");
    return `${time.slice(0, 8)}-${time.slice(8)}-7${own}-8${number.slice(0, 3)}-${number.slice(3)}`;
  };
}
