// The runs of a queue as its table has them, and who collects each.
import { UsageError } from "../core/index.ts";
import { processStart } from "../files/index.ts";
import type { Connection } from "./database.ts";

/** open: work is handed out; parked: nothing is; done: there is none left. */
export type RunState = "open" | "parked" | "done";

export type Collector = { host: string; pid: number; start: string };

/**
 * Makes this process the run's collector, if nobody else is: a process of this machine that is gone is no obstacle, one of
 * another machine is for as long as its lease lasts. False if the queue does not know the run.
 */
export async function claimRun(
  run: string,
  { host, pid, start, leaseSeconds }: Collector & { leaseSeconds: number },
  connection: Connection,
): Promise<boolean> {
  const [row] = await connection.query<Claim>(
    `SELECT name, host, collector_pid AS pid, collector_start AS start, collector_since AS since,
       collector_until > now() AS is_held FROM rollout.runs WHERE id = $1 FOR UPDATE`,
    [run],
  );
  if (!row) return false;
  const isOwn = row.host === host && row.pid === pid && row.start === start;
  const isGone = isGoneFrom(host, row);
  if (row.is_held && !isOwn && !isGone)
    throw new UsageError(
      `The run ${row.name} is being collected by process ${row.pid} on ${row.host} since ${row.since?.toISOString()}. Wait for it, or stop it`,
    );
  await connection.query(
    `UPDATE rollout.runs SET host = $2, collector_pid = $3, collector_start = $4,
       collector_since = CASE WHEN $6 THEN collector_since ELSE now() END,
       collector_until = now() + make_interval(secs => $5), updated_at = now() WHERE id = $1`,
    [run, host, pid, start, leaseSeconds, isOwn],
  );
  return true;
}

/** A process of this machine that no longer runs. */
export function isGoneFrom(
  host: string,
  collector: { host: string; pid: number | null; start: string | null },
): boolean {
  const { pid, start } = collector;
  return collector.host === host && pid !== null && processStart(pid) !== (start ?? "");
}

type Claim = {
  name: string;
  host: string;
  pid: number | null;
  start: string | null;
  since: Date | null;
  is_held: boolean | null;
};
