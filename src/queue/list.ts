// What is on a queue, for people: its runs, how far each is and who collects it, and its workers.
import { hostname } from "node:os";
import { Database } from "./database.ts";
import { isGoneFrom, type RunState } from "./runs.ts";
import { explain, findTables } from "./schema.ts";
import { listWorkers, type QueueWorkerSight } from "./workers.ts";

export type QueuedRun = {
  id: string;
  name: string;
  state: RunState | "new";
  folder: string;
  version: string;
  createdAt: string;
  collector: { host: string; pid?: number; isAlive: boolean };
  planned: number;
  /** not known before the whole plan is on the queue */
  done?: number;
  failed: number;
  inFlight: number;
  waiting?: number;
  /** what is in no folder yet: entries, and records of finished rollouts */
  uncollected: { entries: number; records: number };
  /** files that runs share are counted for each */
  bytes: number;
};

export type QueueContents = {
  /** host, port and database */
  place: string;
  runs: QueuedRun[];
  workers: QueueWorkerSight[];
  /** of all tables together, on disk */
  bytes: number;
};

type RunRow = {
  id: string;
  name: string;
  state: QueuedRun["state"];
  folder: string;
  version: string;
  created_at: Date;
  host: string;
  pid: number | null;
  start: string | null;
  is_held: boolean;
  is_published: boolean;
  planned: number;
  failed: number;
  unended: number;
  in_flight: number;
  entries: number;
  records: number;
  failures: number;
  bytes: number;
};

/** Makes no tables: a queue that nobody has used yet is empty. */
export async function listQueue(url: string, say: (text: string) => void): Promise<QueueContents> {
  const database = await Database.open(url, { say });
  const { place } = database.address;
  try {
    if (!(await findTables(database))) return { place, runs: [], workers: [], bytes: 0 };
    return await explain(database, async () => {
      const rows = await database.query<RunRow>(RUNS);
      const [size] = await database.query<{ bytes: number }>(SIZE);
      return { place, runs: rows.map(toRun), workers: await listWorkers(database), bytes: size?.bytes ?? 0 };
    });
  } finally {
    await database.close();
  }
}

function toRun(row: RunRow): QueuedRun {
  const { id, name, state, folder, version, host, pid, planned, entries, records, bytes } = row;
  const failed = row.failed + row.failures;
  return {
    ...{ id, name, state, folder, version, createdAt: row.created_at.toISOString() },
    collector: { host, pid: pid ?? undefined, isAlive: row.is_held && !isGoneFrom(hostname(), row) },
    ...{ planned, failed, inFlight: row.in_flight },
    ...(row.is_published ? { done: planned - row.unended - failed, waiting: row.unended - row.in_flight } : {}),
    ...{ uncollected: { entries, records }, bytes },
  };
}

const RUNS = `
SELECT runs.id, name, state, folder, program_version AS version, created_at, host, collector_pid AS pid,
  collector_start AS start, coalesce(collector_until > now(), false) AS is_held, is_published, planned, failed,
  coalesce(r.unended, 0) AS unended, coalesce(r.in_flight, 0) AS in_flight, coalesce(e.entries, 0) AS entries,
  coalesce(e.records, 0) AS records, coalesce(e.failures, 0) AS failures,
  coalesce(r.bytes, 0) + coalesce(e.bytes, 0) + coalesce(f.bytes, 0) + pg_column_size(bundle) AS bytes
FROM rollout.runs
LEFT JOIN (
  SELECT run, count(*) FILTER (WHERE NOT is_ended)::integer AS unended, count(worker)::integer AS in_flight,
    sum(pg_column_size(task))::float8 AS bytes FROM rollout.rollouts GROUP BY run) r ON r.run = runs.id
LEFT JOIN (
  SELECT run, count(*) FILTER (WHERE type = 'entry-end' AND NOT is_collected)::integer AS entries,
    count(*) FILTER (WHERE type = 'record' AND NOT is_collected)::integer AS records,
    count(*) FILTER (WHERE type = 'failure' AND NOT is_collected)::integer AS failures,
    sum(pg_column_size(body))::float8 AS bytes FROM rollout.events GROUP BY run) e ON e.run = runs.id
LEFT JOIN (
  SELECT run, sum(pg_column_size(bytes))::float8 AS bytes
  FROM rollout.run_files JOIN rollout.files USING (hash) GROUP BY run) f ON f.run = runs.id
ORDER BY created_at, runs.id`;

const SIZE = `
SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)::float8 AS bytes
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname IN ('rollout', 'rollout_jobs') AND c.relkind = 'r'`;
