// A worker's sign of life: one row, renewed a few times within its lease. Rollouts of a worker whose lease has run out are
// given back for others, with a new fencing number: what the old worker writes after that is refused.
import type { Connection, Database } from "./database.ts";
import type { Jobs } from "./jobs.ts";

export const LEASE_SECONDS = 15;
/** Signs of life within a lease. */
const SIGNS = 4;
/** How long what a worker did counts for its rate. */
export const RATE_SECONDS = 60;
/** Workers that were not heard of for so long are forgotten. */
const FORGET = "1 hour";

/** Rollouts a second, the last minute counting most. */
const RATE = `workers.per_second + (1 - exp(-extract(epoch FROM now() - workers.seen_at) / ${RATE_SECONDS}))
  * (($6 - workers.finished) / greatest(extract(epoch FROM now() - workers.seen_at), 0.001) - workers.per_second)`;

export type WorkerState = {
  id: string;
  host: string;
  pid: number;
  version: string;
  inFlight: number;
  finished: number;
  runs: string[];
};

export class Lease {
  readonly #database: Database;
  readonly #jobs: Jobs;
  readonly #seconds: number;
  readonly #state: () => WorkerState;
  #timer: NodeJS.Timeout | undefined;
  #beating: Promise<void> | undefined;

  constructor(database: Database, jobs: Jobs, options: { seconds: number; state: () => WorkerState }) {
    this.#database = database;
    this.#jobs = jobs;
    this.#seconds = options.seconds;
    this.#state = options.state;
  }

  async begin(onFailure: (error: unknown) => void): Promise<void> {
    await this.#beat();
    const beat = () => {
      this.#beating ??= this.#beat()
        .catch(onFailure)
        .finally(() => {
          this.#beating = undefined;
        });
    };
    this.#timer = setInterval(beat, (this.#seconds * 1000) / SIGNS);
  }

  async #beat(): Promise<void> {
    const { id, host, pid, version, inFlight, finished, runs } = this.#state();
    await this.#database.query(
      `INSERT INTO rollout.workers (id, host, pid, program_version, in_flight, finished, runs, lease_until)
       VALUES ($1, $2, $3, $4, $5, $6, $7, now() + make_interval(secs => $8))
       ON CONFLICT (id) DO UPDATE SET in_flight = $5, finished = $6, runs = $7, seen_at = now(), per_second = ${RATE},
         lease_until = now() + make_interval(secs => $8)`,
      [id, host, pid, version, inFlight, finished, runs, this.#seconds],
    );
    await giveBackLost(this.#database, this.#jobs, this.#seconds);
  }

  /** Nobody need wait for a worker that says good-bye. */
  async end(): Promise<void> {
    clearInterval(this.#timer);
    await this.#beating;
    await this.#database.query("DELETE FROM rollout.workers WHERE id = $1", [this.#state().id]);
  }
}

/** Looked up by worker: each of a thousand asks every few seconds, and together they may hold a hundred thousand. */
const SILENT = "r.worker = ANY(ARRAY(SELECT id FROM rollout.workers WHERE lease_until < now()))";
/** Those of workers that have no row any more too: reads all that are held. */
const FORGOTTEN =
  "r.worker IS NOT NULL AND NOT EXISTS (SELECT FROM rollout.workers w WHERE w.id = r.worker AND w.lease_until >= now())";

/**
 * Takes rollouts away from workers that are silent. After the database itself was away nobody has been heard of for a
 * while, so everybody gets the time of a lease.
 */
export async function giveBackLost(
  database: Database,
  jobs: Jobs,
  graceSeconds: number,
  { forgotten = false } = {},
): Promise<void> {
  if (database.reachableFor < graceSeconds * 1000) return;
  await database.transaction(async (connection) => {
    const lost = await connection.query<{ run: string; job: string }>(
      `WITH lost AS (
         SELECT r.id FROM rollout.rollouts r WHERE ${forgotten ? FORGOTTEN : SILENT}
           AND pg_postmaster_start_time() < now() - make_interval(secs => $1)
         ORDER BY r.id LIMIT 1000 FOR UPDATE OF r SKIP LOCKED)
       UPDATE rollout.rollouts r SET worker = NULL, fence = r.fence + 1 FROM lost WHERE r.id = lost.id
       RETURNING r.run, r.job`,
      [graceSeconds],
    );
    await returnJobs(jobs, lost, connection);
    await connection.query(`DELETE FROM rollout.workers WHERE lease_until < now() - interval '${FORGET}'`);
  });
}

export async function returnJobs(
  jobs: Jobs,
  rollouts: readonly { run: string; job: string }[],
  connection: Connection,
): Promise<void> {
  for (const run of new Set(rollouts.map((rollout) => rollout.run)))
    await jobs.giveBack(
      run,
      rollouts.filter((rollout) => rollout.run === run).map(({ job }) => job),
      connection,
    );
}
