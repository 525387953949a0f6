// Taking a run off a queue. What was collected is in its folder; what was not is lost, so that is asked for twice.
import { hostname } from "node:os";
import { UsageError } from "../core/index.ts";
import { type Connection, Database, type Row } from "./database.ts";
import type { Jobs } from "./jobs.ts";
import { isGoneFrom } from "./runs.ts";
import { explain, findTables, openQueue } from "./schema.ts";

/** What goes with a run. */
export type DroppedRun = {
  name: string;
  folder: string;
  host: string;
  /** never collected: entries, and among them those of finished rollouts that have no record in the folder */
  entries: number;
  records: number;
  /** planned and not made */
  unmade: number;
  /** that no other run needs */
  files: number;
};

type Found = {
  id: string;
  name: string;
  folder: string;
  host: string;
  pid: number | null;
  start: string | null;
  is_held: boolean;
  state: string;
};

type DropOptions = {
  /** also one that is in use, or not collected */
  force?: boolean;
  /** one line for people */
  say(text: string): void;
};

export async function dropRun(url: string, run: string, { force = false, say }: DropOptions): Promise<DroppedRun> {
  const database = await Database.open(url, { say });
  let jobs: Jobs | undefined;
  try {
    if (!(await findTables(database))) throw unknown(database, run, []);
    jobs = await openQueue(database);
    const { id, ...dropped } = await explain(database, () =>
      database.transaction((connection) => drop(database, { run, force }, connection)),
    );
    await jobs.dropQueue(id);
    return dropped;
  } finally {
    await jobs?.close();
    await database.close();
  }
}

async function drop(
  database: Database,
  { run, force }: { run: string; force: boolean },
  connection: Connection,
): Promise<DroppedRun & { id: string }> {
  // whoever registers a run meanwhile waits, and then finds its files gone or kept
  await connection.query("LOCK TABLE rollout.run_files IN SHARE ROW EXCLUSIVE MODE");
  const found = await find(database, run, connection);
  const loss = await countLoss(found.id, connection);
  if (!force) await refuseIfUsed(found, loss, connection);
  await connection.query("DELETE FROM rollout.runs WHERE id = $1", [found.id]);
  const files = await connection.query<{ hash: string }>(
    `DELETE FROM rollout.files f WHERE NOT EXISTS (SELECT FROM rollout.run_files r WHERE r.hash = f.hash)
     RETURNING hash`,
  );
  const { id, name, folder, host } = found;
  return { id, name, folder, host, ...loss, files: new Set(files.map(({ hash }) => hash)).size };
}

/** By its name, or by its id or the beginning of it. */
async function find(database: Database, run: string, connection: Connection): Promise<Found> {
  const all = await connection.query<Found>(
    `SELECT id, name, folder, host, state, collector_pid AS pid, collector_start AS start,
       coalesce(collector_until > now(), false) AS is_held
     FROM rollout.runs WHERE name = $1 OR starts_with(id::text, $2) ORDER BY created_at, id FOR UPDATE`,
    [run, run.length >= MIN_ID ? run.toLowerCase() : "none"],
  );
  const named = all.filter(({ name }) => name === run);
  const found = named.length > 0 ? named : all;
  const [first, ...others] = found;
  if (!first) throw unknown(database, run, await connection.query("SELECT name FROM rollout.runs ORDER BY created_at"));
  if (others.length === 0) return first;
  const which = found.map(({ id, host, folder }) => `${id.slice(0, 8)} (${folder} on ${host})`).join(", ");
  throw new UsageError(`There are ${found.length} runs "${run}" on this queue: say which by its id: ${which}`);
}

const MIN_ID = 4;

function unknown({ address }: Database, run: string, all: Row[]): UsageError {
  const names = [...new Set(all.map(({ name }) => String(name)))];
  const there = names.length > 0 ? `there are: ${names.join(", ")}` : "there is none";
  return new UsageError(`There is no run "${run}" on the queue at ${address.place}; ${there}`);
}

async function countLoss(run: string, connection: Connection) {
  const [events] = await connection.query<{ entries: number; records: number }>(
    `SELECT count(*) FILTER (WHERE type = 'entry-end')::integer AS entries,
       count(*) FILTER (WHERE type = 'record')::integer AS records
     FROM rollout.events WHERE run = $1 AND NOT is_collected`,
    [run],
  );
  const [rollouts] = await connection.query<{ unmade: number }>(
    "SELECT count(*)::integer AS unmade FROM rollout.rollouts WHERE run = $1 AND NOT is_ended",
    [run],
  );
  return { entries: events?.entries ?? 0, records: events?.records ?? 0, unmade: rollouts?.unmade ?? 0 };
}

type Loss = Awaited<ReturnType<typeof countLoss>>;

async function refuseIfUsed(found: Found, loss: Loss, connection: Connection): Promise<void> {
  const { id, name, host, pid, folder } = found;
  const users: string[] = [];
  if (found.is_held && !isGoneFrom(hostname(), found)) users.push(`process ${pid} on ${host} collects it`);
  // workers tell which runs they serve now and then: of one that is over they know soon
  const workers = await connection.query<{ host: string; pid: number }>(
    `SELECT host, pid FROM rollout.workers
     WHERE lease_until > now() AND $1 = ANY(runs) AND $2 <> 'done' ORDER BY host, pid`,
    [id, found.state],
  );
  const [first, ...others] = workers;
  if (first) {
    const more = others.length > 0 ? ` and ${others.length} more` : "";
    users.push(`worker ${first.pid} on ${first.host}${more} ${others.length > 0 ? "serve" : "serves"} it`);
  }
  if (users.length > 0)
    throw new UsageError(
      `The run ${name} is in use: ${users.join(", ")}. Stop that first, or drop it all the same with --force${lossText(loss, ", which loses ")}`,
    );
  const lost = lossText(loss);
  if (lost)
    throw new UsageError(
      `The run ${name} has ${lost}. Its command, given again on ${host} for ${folder}, collects that; --force drops it all the same`,
    );
}

/** Nothing if nothing would be lost. */
function lossText({ entries, records }: Loss, before = ""): string {
  if (entries + records === 0) return "";
  return `${before}${counted(entries, "entry", "entries")} and ${counted(records, "record", "records")} not yet collected`;
}

function counted(number: number, one: string, many: string): string {
  return `${number} ${number === 1 ? one : many}`;
}
