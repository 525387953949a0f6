// A worker of a queue: takes rollouts of whatever runs there are, plays them, gives back what it cannot finish. It needs the
// address and its keys; everything else comes through the database.
import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { messageOf, PROGRAM_VERSION, type RunEvent, systemClock, UsageError, type Variables } from "../core/index.ts";
import { Database } from "./database.ts";
import type { Jobs } from "./jobs.ts";
import { LEASE_SECONDS, Lease } from "./lease.ts";
import { type OpenRun, RunPlayer } from "./run-player.ts";
import { openQueue } from "./schema.ts";

type WorkerOptions = {
  url: string;
  env: Variables;
  /** rollouts at once, of all runs together */
  maxWorkers: number;
  /** names of the runs to serve; default: all */
  runs?: readonly string[];
  /** where files of runs are kept */
  cache: string;
  /** leave when nothing is left to do */
  once: boolean;
  leaseSeconds?: number;
  /** set: no new work; what is in flight is given back */
  park: AbortSignal;
  /** set: leave at once */
  abort: AbortSignal;
  say(text: string): void;
  /** told before any code of a run is loaded: the variables that it names */
  hide(variables: string[]): void;
};

const LOOK_MS = 500;
const FIRST_POLL_MS = 50;
const MAX_POLL_MS = 1000;

type ServedQueue = { finished: number; refused: string[] };

export async function serveQueue(options: WorkerOptions): Promise<ServedQueue> {
  const { say, abort } = options;
  const database = await Database.open(options.url, { say, giveUp: abort });
  const open: { close(): Promise<void> }[] = [database];
  try {
    const jobs = await openQueue(database);
    open.push(jobs);
    const worker = new QueueWorker(database, jobs, options);
    return await worker.serve();
  } finally {
    for (const part of open.reverse()) await part.close();
  }
}

class QueueWorker {
  readonly #id = randomUUID();
  readonly #database: Database;
  readonly #jobs: Jobs;
  readonly #options: WorkerOptions;
  readonly #players = new Map<string, RunPlayer>();
  /** by run and revision: what this worker has refused, and why */
  readonly #refused = new Map<string, string>();
  readonly #crash = new AbortController();
  #finished = 0;
  #wake: (() => void) | undefined;
  #next = 0;

  constructor(database: Database, jobs: Jobs, options: WorkerOptions) {
    this.#database = database;
    this.#jobs = jobs;
    this.#options = options;
  }

  async serve(): Promise<ServedQueue> {
    const { leaseSeconds = LEASE_SECONDS, park, say } = this.#options;
    const lease = new Lease(this.#database, this.#jobs, { seconds: leaseSeconds, state: () => this.#state() });
    park.addEventListener("abort", () => this.#wake?.());
    await lease.begin((error) => this.#stop(error));
    say(`Worker ${process.pid} on ${hostname()} is ready: ${this.#database.address.place}`);
    try {
      await this.#work();
    } finally {
      for (const player of this.#players.values()) player.park();
      await Promise.all([...this.#players.values()].map(({ done }) => done));
      if (!this.#options.abort.aborted) await lease.end();
    }
    this.#crash.signal.throwIfAborted();
    return { finished: this.#finished, refused: [...this.#refused.values()] };
  }

  #state() {
    const { pid } = process;
    const inFlight = this.#inFlight();
    const runs = [...this.#players.keys()];
    return { id: this.#id, host: hostname(), pid, version: PROGRAM_VERSION, inFlight, finished: this.#finished, runs };
  }

  #inFlight(): number {
    return [...this.#players.values()].reduce((sum, { inFlight }) => sum + inFlight, 0);
  }

  get #isStopped(): boolean {
    return this.#options.park.aborted || this.#crash.signal.aborted;
  }

  async #work(): Promise<void> {
    let lookedAt = Number.NEGATIVE_INFINITY;
    let wait = FIRST_POLL_MS;
    while (!this.#isStopped) {
      if (systemClock.elapsed() - lookedAt >= LOOK_MS) {
        if ((await this.#look()) && this.#options.once && this.#inFlight() === 0) return;
        lookedAt = systemClock.elapsed();
      }
      if (this.#isStopped) return;
      wait = (await this.#takeSome()) ? FIRST_POLL_MS : Math.min(2 * wait, MAX_POLL_MS);
      await this.#pause(wait);
    }
  }

  /** For so long, or until a rollout ends. */
  async #pause(milliseconds: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, milliseconds * (0.75 + Math.random() / 2));
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.#wake = undefined;
  }

  /** Opens runs that are new, parks those that are over; whether nothing is left to do in any of them. */
  async #look(): Promise<boolean> {
    const runs = await this.#database.query<OpenRun & { is_left: boolean }>(
      `SELECT id, name, program_version, revision,
         NOT is_published OR EXISTS (SELECT FROM rollout.rollouts r WHERE r.run = runs.id AND NOT r.is_ended) AS is_left
       FROM rollout.runs WHERE state = 'open' AND (NOT has_budget OR collector_until > now())
         AND ($1::text[] IS NULL OR name = ANY($1)) ORDER BY created_at`,
      [this.#options.runs ?? null],
    );
    const known = new Map(runs.map((run) => [run.id, run]));
    for (const [id, player] of this.#players) if (known.get(id)?.revision !== player.run.revision) player.park();
    const mine = runs.filter((run) => !this.#refused.has(nameOf(run)));
    for (const run of mine) if (!this.#players.has(run.id)) this.#open(run);
    return mine.every((run) => !run.is_left);
  }

  #open(run: OpenRun): void {
    const { env, cache, maxWorkers, park, abort, hide } = this.#options;
    if (run.program_version !== PROGRAM_VERSION) {
      const versions = `was planned with rollout ${run.program_version}; this worker is ${PROGRAM_VERSION}`;
      this.#refuse(run, `${run.name} ${versions}: it takes no work of that run`);
      return;
    }
    const player = new RunPlayer(run, {
      ...{ database: this.#database, jobs: this.#jobs, worker: this.#id, env, cache, maxWorkers, park, abort, hide },
      onFree: (isFinished) => {
        if (isFinished) this.#finished++;
        this.#wake?.();
      },
      onEvent: (event) => this.#tell(run, event),
    });
    this.#players.set(run.id, player);
    player.done = player.play().catch((error) => {
      if (error instanceof UsageError) this.#refuse(run, `${run.name}: ${messageOf(error)}`);
      else this.#stop(error);
    });
    player.done = player.done.finally(() => {
      if (this.#players.get(run.id) === player) this.#players.delete(run.id);
      this.#wake?.();
    });
  }

  #tell(run: OpenRun, event: RunEvent): void {
    if (event.type === "run-note") this.#options.say(`${run.name}: ${event.message}`);
  }

  #refuse(run: OpenRun, message: string): void {
    this.#refused.set(nameOf(run), message);
    this.#options.say(message);
    const at = new Date(systemClock.now()).toISOString();
    const note: RunEvent = { type: "run-note", at, message: `Worker ${process.pid} on ${hostname()}: ${message}` };
    this.#database
      .query(`INSERT INTO rollout.events (run, type, body) SELECT id, 'run-note', $2 FROM rollout.runs WHERE id = $1`, [
        run.id,
        JSON.stringify(note),
      ])
      .catch((error) => this.#stop(error));
  }

  /** Takes as many rollouts as there is room for, from each run in turn. */
  async #takeSome(): Promise<boolean> {
    let isTaken = false;
    const players = [...this.#players.values()];
    const first = this.#next++;
    for (const [index] of players.entries()) {
      const player = players[(first + index) % players.length] as RunPlayer;
      const room = this.#options.maxWorkers - this.#inFlight();
      if (room <= 0 || this.#isStopped) break;
      const share = Math.ceil(room / (players.length - index));
      if ((await player.take(share, () => players.flatMap(({ held }) => held))) > 0) isTaken = true;
    }
    return isTaken;
  }

  #stop(error: unknown): void {
    this.#crash.abort(error);
    this.#wake?.();
  }
}

function nameOf({ id, revision }: OpenRun): string {
  return `${id} ${revision}`;
}
