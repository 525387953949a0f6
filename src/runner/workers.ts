// Several rollouts at once. A worker takes the next planned rollout as soon as its last one has ended; records become
// durable meanwhile.
import type { PlannedRollout } from "./plan.ts";
import { type PlayedRollout, Rollout } from "./rollout.ts";
import type { RunContext } from "./run-context.ts";
import { LostRollout, type RolloutSource } from "./store.ts";

/** Records that may wait for the disk while workers continue. */
const MAX_UNWRITTEN = 256;

/**
 * Thousands that start in one go would hold up connections, the journal and Ctrl-C for seconds. So many start in each turn of
 * the event loop; more in a long one, so that those which have begun do not keep the others from it.
 */
const START_AT_ONCE = 32;
const TURN_MS = 50;
const MOST_AT_ONCE = 256;

export class Workers {
  readonly #context: RunContext;
  readonly counts = { finished: 0, failed: 0 };
  /** each rollout listens to its own signal: one shared by thousands would slow all of them down */
  readonly #running = new Set<AbortController>();
  readonly #writing = new Set<Promise<void>>();
  readonly #waiting: (() => void)[] = [];
  readonly #putOff: PlannedRollout[] = [];
  #source: RolloutSource | undefined;
  /** a failing disk or a wrong setup ends the run once nothing is being written any more */
  readonly #crash = new AbortController();
  readonly #atOnce: number;
  readonly #maxUnwritten: number;

  /** `atOnce`: rollouts that may be played at the same time */
  constructor(context: RunContext, atOnce: number) {
    this.#context = context;
    this.#atOnce = atOnce;
    this.#maxUnwritten = Math.max(atOnce, MAX_UNWRITTEN);
    context.abort.addEventListener("abort", () => this.#abortAll(context.abort.reason));
  }

  /** Resolves when the source has no more, or the run is stopped, and every record is on disk. */
  async play(source: RolloutSource): Promise<void> {
    this.#source = source;
    const { clock } = this.#context;
    const most = Math.min(this.#atOnce, source.size);
    const working: Promise<void>[] = [];
    let room = START_AT_ONCE;
    while (working.length < most && !this.#isStopped()) {
      for (; room > 0 && working.length < most; room--)
        working.push(this.#work(source).catch((error) => this.stop(error)));
      const before = clock.elapsed();
      await new Promise(setImmediate);
      const turns = (clock.elapsed() - before) / TURN_MS;
      room = Math.min(MOST_AT_ONCE, Math.ceil(START_AT_ONCE * Math.max(1, turns)));
    }
    await Promise.all(working);
    await Promise.all(this.#writing);
    if (!this.#context.abort.aborted) this.#crash.signal.throwIfAborted();
  }

  async #work(source: RolloutSource): Promise<void> {
    while (!this.#isStopped()) {
      const next = source.next();
      const planned = (next instanceof Promise ? await next : next) ?? this.#takePutOff();
      if (!planned) return;
      const controller = new AbortController();
      this.#running.add(controller);
      const rollout = new Rollout(this.#context, planned, controller.signal);
      const played = await rollout.play().finally(() => this.#running.delete(controller));
      this.#putBack(source, planned, played);
      this.#keep(played);
      if (this.#writing.size > this.#maxUnwritten) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }

  #putBack(source: RolloutSource, planned: PlannedRollout, { putOff, isParked }: PlayedRollout): void {
    if (source.giveBack && (putOff || isParked)) source.giveBack(planned, putOff !== undefined);
    else if (putOff) this.#putOff.push(putOff);
  }

  /** What was put off is played last, by the last worker. */
  #takePutOff(): PlannedRollout | undefined {
    return this.#running.size === 0 ? this.#putOff.shift() : undefined;
  }

  #keep({ written }: PlayedRollout): void {
    const done = written
      .then(
        (outcome) => {
          if (outcome) this.counts[outcome.stopReason === "infrastructure" ? "failed" : "finished"]++;
        },
        (error) => {
          if (!(error instanceof LostRollout)) this.stop(error);
        },
      )
      .finally(() => {
        this.#writing.delete(done);
        this.#waiting.shift()?.();
      });
    this.#writing.add(done);
  }

  #isStopped(): boolean {
    const { park, abort } = this.#context;
    return park.aborted || abort.aborted || this.#crash.signal.aborted;
  }

  /** Ends the run with this error; what is being written is still written. */
  stop(error: unknown): void {
    this.#crash.abort(error);
    this.#abortAll(error);
    this.#source?.close?.();
  }

  #abortAll(reason: unknown): void {
    for (const controller of this.#running) controller.abort(reason);
  }
}
