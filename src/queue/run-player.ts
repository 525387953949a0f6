// One run at one worker: its files fetched, its datasets opened, and rollouts played as they are taken off the queue.
import type { RunEvent, Variables } from "../core/index.ts";
import { type PlannedRollout, type PreparedDataset, playFrom, type RolloutSource } from "../runner/index.ts";
import { type RunBundle, unpackRun } from "./bundle/index.ts";
import type { Database } from "./database.ts";
import { fetchFile } from "./files.ts";
import type { Jobs } from "./jobs.ts";
import { QueueStore } from "./store.ts";
import { takeRollouts } from "./take.ts";
import { createPlanner, type Planner } from "./task.ts";

export type OpenRun = { id: string; name: string; program_version: string; revision: number };

type PlayerOptions = {
  database: Database;
  jobs: Jobs;
  worker: string;
  env: Variables;
  cache: string;
  maxWorkers: number;
  park: AbortSignal;
  abort: AbortSignal;
  hide(variables: string[]): void;
  onFree(isFinished: boolean): void;
  onEvent(event: RunEvent): void;
};

type Waiting = { resolve(planned: PlannedRollout | undefined): void; reject(error: unknown): void };

export class RunPlayer {
  readonly run: OpenRun;
  done: Promise<void> = Promise.resolve();
  readonly #options: PlayerOptions;
  readonly #store: QueueStore;
  readonly #park = new AbortController();
  readonly #waiting: Waiting[] = [];
  #plan: Planner | undefined;

  constructor(run: OpenRun, options: PlayerOptions) {
    this.run = run;
    this.#options = options;
    const { database, jobs, park } = options;
    this.#store = new QueueStore({ database, jobs, run: run.id }, options.onFree);
    if (park.aborted) this.park();
    park.addEventListener("abort", this.park);
    this.#park.signal.addEventListener("abort", () => this.#sendHome());
  }

  /** Rollouts of it that this worker holds. */
  get held(): string[] {
    return this.#store.held;
  }

  get inFlight(): number {
    return this.held.length;
  }

  /** No new work; what is in flight is given back. */
  readonly park = (): void => this.#park.abort(new Error("parked"));

  /** Resolves once it is parked and everything is given back. */
  async play(): Promise<void> {
    const { env, abort, park } = this.#options;
    try {
      const run = await this.#open();
      if (this.#park.signal.aborted) return;
      await playFrom(run, {
        ...{ store: this.#store, env, abort, park: this.#park.signal },
        source: (datasets) => this.#createSource(run.config.seed, datasets),
        onEvent: (event) => this.#onEvent(event),
      });
    } catch (error) {
      if (error !== this.#park.signal.reason) throw error;
    } finally {
      park.removeEventListener("abort", this.park);
      this.#plan = undefined;
      this.#sendHome();
      this.#store.giveBackAll();
      await this.#store.settled();
    }
  }

  /** Takes up to so many rollouts, if the run is ready for them; returns how many. */
  async take(count: number, held: () => string[]): Promise<number> {
    const plan = this.#plan;
    const room = Math.min(count, this.#waiting.length);
    if (!plan || room === 0) return 0;
    const { database, jobs, worker } = this.#options;
    const taken = await takeRollouts({ database, jobs, worker, run: this.run.id }, room, held);
    for (const rollout of taken) {
      if (!this.#store.hold(rollout)) continue;
      const waiting = this.#waiting.shift();
      if (!waiting)
        this.#store.giveBack(rollout.task.key, false); // parked meanwhile
      else
        try {
          waiting.resolve(plan(rollout.task, rollout.events));
        } catch (error) {
          waiting.reject(error);
        }
    }
    return taken.length;
  }

  async #open() {
    const { database, env, cache, maxWorkers, hide } = this.#options;
    const [row] = await database.query<{ bundle: string }>("SELECT bundle FROM rollout.runs WHERE id = $1", [
      this.run.id,
    ]);
    if (!row) throw this.#park.signal.reason ?? new Error(`the run ${this.run.id} is gone`);
    const bundle = JSON.parse(row.bundle) as RunBundle;
    hide(bundle.needs.flatMap((names) => names.split("|")));
    const run = await unpackRun(bundle, { cache, env, fetchFile: (hash: string) => fetchFile(database, hash) });
    return { ...run, config: { ...run.config, max_workers: maxWorkers } };
  }

  #createSource(seed: number, datasets: PreparedDataset[]): RolloutSource {
    this.#plan = createPlanner(seed, datasets);
    return {
      size: Number.POSITIVE_INFINITY,
      next: () => {
        if (this.#park.signal.aborted) return undefined;
        return new Promise((resolve, reject) => this.#waiting.push({ resolve, reject }));
      },
      giveBack: ({ key }, isLast) => this.#store.giveBack(key, isLast),
      close: this.park,
    };
  }

  /** Whoever waits for the next rollout waits for nothing. */
  #sendHome(): void {
    for (const { resolve } of this.#waiting.splice(0)) resolve(undefined);
  }

  /** What is not recorded is for people: those at the collector too. */
  #onEvent(event: RunEvent): void {
    this.#options.onEvent(event);
    if (event.type === "run-note" || event.type === "endpoint-wait") this.#store.tell(event);
  }
}
