// The workers of a queue, for people.
import type { WorkerSight } from "../runner/index.ts";
import type { Database } from "./database.ts";
import { RATE_SECONDS } from "./lease.ts";

export type QueueWorkerSight = WorkerSight & { version: string /** ids */; runs: string[] };

/** Those that serve this run, or any; the silent ones too, until they are forgotten. */
export async function listWorkers(database: Database, run?: string): Promise<QueueWorkerSight[]> {
  return database.query<QueueWorkerSight>(LIST, [run ?? null]);
}

/** A rate that began at nothing is put right: what is missing is known. */
const LIST = `
SELECT host, pid, program_version AS "version", runs::text[] AS runs, finished::integer AS "finished",
  (SELECT count(*)::integer FROM rollout.rollouts r WHERE r.worker = w.id AND ($1::uuid IS NULL OR r.run = $1))
    AS "inFlight",
  CASE WHEN seen_at > started_at
    THEN per_second / (1 - exp(-extract(epoch FROM seen_at - started_at)::float8 / ${RATE_SECONDS})) ELSE 0 END
    AS "perSecond",
  extract(epoch FROM now() - started_at)::float8 AS "upSeconds",
  extract(epoch FROM now() - seen_at)::float8 AS "silentSeconds",
  lease_until > now() AS "isAlive"
FROM rollout.workers w WHERE $1::uuid IS NULL OR $1 = ANY(runs) ORDER BY host, pid`;
