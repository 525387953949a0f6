// Taking rollouts off the queue. A job, its fencing number and its new holder change in one transaction: a rollout that is
// held has exactly one holder whose number is the latest.
import type { RunEvent } from "../core/index.ts";
import type { Connection, Database } from "./database.ts";
import type { Jobs } from "./jobs.ts";
import { returnJobs } from "./lease.ts";
import type { Task } from "./task.ts";

export type Taken = { id: string; fence: number; job: string; task: Task; events: RunEvent[] };

type Place = { database: Database; jobs: Jobs; worker: string; run: string };

/** Up to `count` rollouts of a run. `held`: what the worker knows to hold, of all runs. */
export async function takeRollouts(place: Place, count: number, held: () => string[]): Promise<Taken[]> {
  const { database } = place;
  let isRepeated = false;
  return database.patiently(() =>
    database.tryTransaction(async (connection) => {
      // the first try may have succeeded without our knowing
      if (isRepeated) await giveBackUnknown(place, held(), connection);
      isRepeated = true;
      return take(place, count, connection);
    }),
  );
}

async function take({ jobs, worker, run }: Place, count: number, connection: Connection): Promise<Taken[]> {
  const [state] = await connection.query<{ fleet_limit: number | null }>(
    // who slept past its lease says that it lives before it takes anything: it would be taken away again at once
    `SELECT fleet_limit FROM rollout.runs WHERE id = $1 AND state = 'open'
       AND NOT EXISTS (SELECT FROM rollout.workers WHERE id = $2 AND lease_until < now())`,
    [run, worker],
  );
  if (!state) return [];
  const room = state.fleet_limit === null ? count : Math.min(count, await roomIn(run, connection));
  const ids = room > 0 ? await jobs.take(run, room, connection) : [];
  if (ids.length === 0) return [];
  const rows = await connection.query<{ id: string; fence: number; job: string; task: string }>(
    `UPDATE rollout.rollouts SET fence = fence + 1, worker = $3
     WHERE run = $1 AND job = ANY($2::uuid[]) AND NOT is_ended RETURNING id, fence, job, task`,
    [run, ids, worker],
  );
  const found = new Set(rows.map(({ job }) => job));
  // of rollouts that are no longer wanted
  const stray = ids.filter((id) => !found.has(id));
  await jobs.remove(run, stray, connection);
  const events = await connection.query<{ rollout: string; body: string }>(
    `SELECT rollout, body FROM rollout.events WHERE rollout = ANY($1::bigint[])
       AND type IN ('rollout-start', 'entry-end', 'call-start') ORDER BY seq`,
    [rows.map(({ id }) => id)],
  );
  const order = new Map(ids.map((id, index) => [id, index]));
  return rows
    .sort((a, b) => (order.get(a.job) ?? 0) - (order.get(b.job) ?? 0))
    .map(({ id, fence, job, task }) => ({
      ...{ id, fence, job },
      task: JSON.parse(task) as Task,
      events: events.filter(({ rollout }) => rollout === id).map(({ body }) => JSON.parse(body) as RunEvent),
    }));
}

/** How many more of a run may be played by the whole fleet. Whoever asks waits for whoever asked before. */
async function roomIn(run: string, connection: Connection): Promise<number> {
  const [row] = await connection.query<{ fleet_limit: number | null }>(
    "SELECT fleet_limit FROM rollout.runs WHERE id = $1 FOR UPDATE",
    [run],
  );
  const [held] = await connection.query<{ count: string }>(
    "SELECT count(*) AS count FROM rollout.rollouts WHERE run = $1 AND worker IS NOT NULL",
    [run],
  );
  return (row?.fleet_limit ?? Number.POSITIVE_INFINITY) - Number(held?.count ?? 0);
}

async function giveBackUnknown({ jobs, worker }: Place, held: string[], connection: Connection): Promise<void> {
  const lost = await connection.query<{ run: string; job: string }>(
    `UPDATE rollout.rollouts SET worker = NULL, fence = fence + 1
     WHERE worker = $1 AND NOT id = ANY($2::bigint[]) RETURNING run, job`,
    [worker, held],
  );
  await returnJobs(jobs, lost, connection);
}
