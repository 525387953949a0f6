// The workers of a queue, for people.
import type { WorkerSight } from "../runner/index.ts";
import type { Database } from "./database.ts";

/** Those that serve this run, or any; the silent ones too, until they are forgotten. */
export async function listWorkers(database: Database, run?: string): Promise<WorkerSight[]> {
  return database.query<WorkerSight>(
    `SELECT host, pid, in_flight AS "inFlight", finished::integer AS "finished",
       extract(epoch FROM now() - started_at)::float8 AS "upSeconds",
       extract(epoch FROM now() - seen_at)::float8 AS "silentSeconds"
     FROM rollout.workers WHERE $1::uuid IS NULL OR $1 = ANY(runs) ORDER BY host, pid`,
    [run ?? null],
  );
}
