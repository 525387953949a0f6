// The collector's side of a queue: registers the run, hands out its plan, collects what workers record, and says when the
// run is over or to be left alone.
import { createHash, randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { basename, resolve } from "node:path";
import type { ResolvedRun } from "../config/index.ts";
import { PROGRAM_VERSION, systemClock, UsageError, type Variables } from "../core/index.ts";
import { processStart } from "../files/index.ts";
import {
  type Fleet,
  type FleetRun,
  outputOf,
  type RunContext,
  type RunPlan,
  type WorkerSight,
} from "../runner/index.ts";
import { keyText, type RunFolder } from "../runs/index.ts";
import { type PackedRun, packRun } from "./bundle/index.ts";
import { Collecting, examineFolder } from "./collect.ts";
import { Database } from "./database.ts";
import { isOrphaned } from "./failures.ts";
import { sendFiles } from "./files.ts";
import type { Jobs } from "./jobs.ts";
import { giveBackLost, LEASE_SECONDS } from "./lease.ts";
import { publishPlan } from "./publish.ts";
import { claimRun, type RunState } from "./runs.ts";
import { openQueue } from "./schema.ts";
import { listWorkers } from "./workers.ts";

type FleetOptions = {
  url: string;
  env: Variables;
  /** rollouts at once, of all workers together */
  fleetLimit?: number;
  leaseSeconds?: number;
  /** one line for people */
  say(text: string): void;
  /** set: leave at once */
  abort?: AbortSignal;
};

const FIRST_POLL_MS = 25;
const MAX_POLL_MS = 400;
const LOOK_MS = 1000;
/** Without a worker, people are told. */
const LONELY_MS = 5000;

export async function openFleet(options: FleetOptions): Promise<Fleet> {
  const database = await Database.open(options.url, { say: options.say, giveUp: options.abort });
  try {
    return new QueueFleet(database, await openQueue(database), options);
  } catch (error) {
    await database.close();
    throw error;
  }
}

class QueueFleet implements Fleet {
  readonly counts = { finished: 0, failed: 0 };
  readonly #database: Database;
  readonly #jobs: Jobs;
  readonly #options: FleetOptions;
  readonly #crash = new AbortController();
  #id: string | undefined;
  #packed: PackedRun | undefined;
  #workers: WorkerSight[] | undefined;
  #listedAt = 0;

  constructor(database: Database, jobs: Jobs, options: FleetOptions) {
    this.#database = database;
    this.#jobs = jobs;
    this.#options = options;
  }

  nameRun(folder: RunFolder): string {
    this.#id ??= folder.manifest?.queue_id ?? randomUUID();
    return this.#id;
  }

  workers(): WorkerSight[] | undefined {
    const since = (systemClock.elapsed() - this.#listedAt) / 1000;
    return this.#workers?.map((worker) => ({ ...worker, silentSeconds: worker.silentSeconds + since }));
  }

  stop(error: unknown): void {
    this.#crash.abort(error);
  }

  async prepare(run: ResolvedRun): Promise<string[]> {
    this.#packed = await packRun(run, this.#options.env);
    return this.#packed.notes;
  }

  async catchUp(run: ResolvedRun, folder: RunFolder): Promise<boolean> {
    const id = folder.manifest?.queue_id;
    if (id === undefined || !(await this.#claim(id))) return false;
    const [waiting] = await this.#database.query(
      "SELECT FROM rollout.events WHERE run = $1 AND NOT is_collected LIMIT 1",
      [id],
    );
    if (!waiting) return false;
    const records = openOutputs(run, folder);
    const before = await examineFolder(this.#database, id, folder, records);
    const sink = { folder, record: folder.record.bind(folder), tell: () => {} };
    const collecting = new Collecting(this.#database, id, sink, before);
    while ((await collecting.collect()) > 0);
    return true;
  }

  async play({ run, plan, folder, context }: FleetRun): Promise<void> {
    const id = this.nameRun(folder);
    const stamp = await this.#register(id, run, this.#packed ?? (await packRun(run, this.#options.env)));
    await this.#keepPlanned(id, plan);
    const sink = { folder, record: context.record.bind(context), tell: context.tell.bind(context) };
    const collecting = new Collecting(this.#database, id, sink);
    const isStopped = () => context.park.aborted || this.#isLeft(context);
    let isPublished = false;
    const publish = async () => {
      await publishPlan({ database: this.#database, jobs: this.#jobs, run: id, stamp }, plan, isStopped).catch(
        sayDropped,
      );
      if (isStopped()) return;
      isPublished = true;
      await this.#setState(id, "open", true);
    };
    // what is on the queue from earlier stays there until it is known which of it is in the plan
    if (stamp > 1) await publish();
    const publishing = stamp > 1 ? undefined : publish().catch((error) => this.stop(error));
    const isOver = () => isPublished && this.counts.finished + this.counts.failed >= plan.size;
    try {
      await this.#collectAll(id, collecting, { context, stamp, isOver });
      await publishing;
    } finally {
      await this.#leave(id, collecting, { context, isDone: isOver() });
    }
    this.#crash.signal.throwIfAborted();
  }

  #isLeft({ abort }: RunContext): boolean {
    return abort.aborted || this.#crash.signal.aborted;
  }

  /** Until all has ended, or the run is parked and nobody plays a rollout of it any more. */
  async #collectAll(id: string, collecting: Collecting, { context, stamp, isOver }: Collected): Promise<void> {
    let lookedAt = Number.NEGATIVE_INFINITY;
    let wait = FIRST_POLL_MS;
    const begunAt = systemClock.elapsed();
    let isParked = false;
    let isQuiet = false;
    let isTold = false;
    while (!isOver() && !this.#isLeft(context)) {
      if (context.park.aborted && !isParked) {
        await this.#setState(id, "parked", false);
        isParked = true;
        lookedAt = Number.NEGATIVE_INFINITY;
      }
      if (systemClock.elapsed() - lookedAt >= (isParked ? LOOK_MS / 4 : LOOK_MS)) {
        isQuiet = (await this.#look(id)) && isParked;
        lookedAt = systemClock.elapsed();
        if (!isTold && this.#workers?.length === 0 && lookedAt - begunAt > LONELY_MS) {
          context.note("No worker serves this run yet: start some with rollout worker and the same address");
          isTold = true;
        }
      }
      const count = await collecting.collect((ended) => {
        if (ended.stamp === stamp) this.counts[ended.isFailed ? "failed" : "finished"]++;
      });
      if (count === 0 && isQuiet) return;
      wait = count > 0 ? FIRST_POLL_MS : Math.min(2 * wait, MAX_POLL_MS);
      if (!isOver()) await pause(wait, context.park);
    }
  }

  /** Renews the lease, gives back what dead workers held; whether nobody plays a rollout of the run. */
  async #look(id: string): Promise<boolean> {
    const { leaseSeconds = LEASE_SECONDS } = this.#options;
    if (!(await this.#claim(id))) throw new UsageError(DROPPED);
    await this.#keepFailed(id);
    await giveBackLost(this.#database, this.#jobs, leaseSeconds, { forgotten: true });
    this.#workers = await listWorkers(this.#database, id);
    this.#listedAt = systemClock.elapsed();
    const [held] = await this.#database.query(
      "SELECT FROM rollout.rollouts WHERE run = $1 AND worker IS NOT NULL LIMIT 1",
      [id],
    );
    return held === undefined;
  }

  #claim(id: string): Promise<boolean> {
    const { leaseSeconds = LEASE_SECONDS } = this.#options;
    const { pid } = process;
    const own = { host: hostname(), pid, start: processStart(pid) ?? "", leaseSeconds };
    return this.#database.transaction((connection) => claimRun(id, own, connection));
  }

  /**
   * Puts the run onto the queue, or what changed about it. Workers go on undisturbed if nothing did; otherwise nothing is
   * handed out until the new plan is there. Returns the number that the plan's rollouts are marked with.
   */
  async #register(id: string, run: ResolvedRun, packed: PackedRun): Promise<number> {
    const { name, spec, files, needs } = packed;
    const bundle = JSON.stringify({ name, spec, files, needs });
    const { config } = run;
    const folder = resolve(run.folder);
    const hasBudget = config.max_cost !== undefined || config.max_tokens_total !== undefined;
    await this.#database.patiently(() => this.#jobs.createQueue(id));
    const values = [
      ...[id, basename(folder), folder, hostname(), PROGRAM_VERSION, bundle],
      ...[createHash("sha256").update(bundle).digest("hex"), needs, this.#options.fleetLimit ?? null, hasBudget],
    ];
    const [row] = await this.#database.query<{ stamp: number }>(REGISTER, values);
    if (!(await this.#claim(id)) || !row) throw new Error(`the run ${id} was not registered`);
    await sendFiles(this.#database, id, packed);
    await this.#database.query("UPDATE rollout.runs SET state = 'open' WHERE id = $1 AND state = 'new'", [id]);
    return row.stamp;
  }

  async #setState(id: string, state: RunState, isPublished: boolean): Promise<void> {
    await this.#database.query(
      "UPDATE rollout.runs SET state = $2, is_published = is_published OR $3, updated_at = now() WHERE id = $1",
      [id, state, isPublished],
    );
  }

  /** For `queue list`: what is finished leaves no other trace. */
  async #keepPlanned(id: string, { datasets, size }: RunPlan): Promise<void> {
    const kept = datasets.reduce((sum, dataset) => sum + dataset.kept, 0);
    await this.#database.query("UPDATE rollout.runs SET planned = $2, failed = 0 WHERE id = $1", [id, kept + size]);
  }

  async #keepFailed(id: string): Promise<void> {
    const { failed } = this.counts;
    await this.#database.query("UPDATE rollout.runs SET failed = $2 WHERE id = $1 AND failed <> $2", [id, failed]);
  }

  /** A run that is over needs nothing but its row; one that is left at once, or is somebody else's, is left as it is. */
  async #leave(id: string, collecting: Collecting, { context, isDone }: { context: RunContext; isDone: boolean }) {
    if (context.abort.aborted || !(await this.#claim(id).catch(() => false))) return;
    if (isDone) while ((await collecting.collect()) > 0);
    await this.#keepFailed(id);
    await this.#setState(id, isDone ? "done" : "parked", false);
    await this.#database.query("UPDATE rollout.runs SET collector_until = NULL WHERE id = $1", [id]);
    if (!isDone) return;
    await this.#database.query("DELETE FROM rollout.events WHERE run = $1", [id]);
    await this.#database.query("DELETE FROM rollout.rollouts WHERE run = $1", [id]);
    await this.#database.patiently(() => this.#jobs.dropQueue(id));
  }

  async close(): Promise<void> {
    await this.#jobs.close();
    await this.#database.close();
  }
}

const DROPPED =
  "The run is no longer on the queue: somebody dropped it, or the database was set up anew. What was collected is in the folder; the same command goes on from there";

/** Rows cannot be added to a run that is gone. */
function sayDropped(error: unknown): never {
  throw isOrphaned(error) ? new UsageError(DROPPED) : error;
}

type Collected = { context: RunContext; stamp: number; isOver(): boolean };

const REGISTER = `
INSERT INTO rollout.runs (id, name, folder, host, program_version, bundle, bundle_hash, needs, fleet_limit, has_budget, state)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, 'new')
ON CONFLICT (id) DO UPDATE SET
  name = $2, folder = $3, host = $4, program_version = $5, bundle = $6, bundle_hash = $7, needs = $8, fleet_limit = $9,
  has_budget = $10, is_published = false, stamp = rollout.runs.stamp + 1, updated_at = now(),
  state = CASE WHEN rollout.runs.state = 'done' THEN 'new'
    WHEN rollout.runs.bundle_hash = $7 AND rollout.runs.program_version = $5 THEN 'open' ELSE 'parked' END,
  revision = rollout.runs.revision
    + CASE WHEN rollout.runs.bundle_hash = $7 AND rollout.runs.program_version = $5 THEN 0 ELSE 1 END
RETURNING stamp`;

/** The outputs of everything that the run ever made; returns the keys of their records. */
function openOutputs(run: ResolvedRun, folder: RunFolder): Set<string> {
  const records = new Set<string>();
  const before = Object.entries(folder.manifest?.datasets ?? {}).map(([name, { output }]) => [name, output] as const);
  const now = run.datasets.map((dataset) => [dataset.name, outputOf(run.folder, dataset)] as const);
  for (const [name, output] of new Map([...before, ...now]))
    folder.openOutput(name, output, (record) => records.add(keyText(record)));
  return records;
}

/** For so long, or until the run is to stop. */
async function pause(milliseconds: number, park: AbortSignal): Promise<void> {
  if (park.aborted) return systemClock.sleep(milliseconds);
  await systemClock.sleep(milliseconds, park).catch(() => {});
}
