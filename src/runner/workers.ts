// Several rollouts at once. A worker takes the next planned rollout as soon as its last one has ended; records become
// durable meanwhile.
import type { PlannedRollout } from "./plan.ts";
import { type PlayedRollout, Rollout } from "./rollout.ts";
import type { RunContext } from "./run-context.ts";

/** Records that may wait for the disk while workers continue. */
const MAX_UNWRITTEN = 256;

export class Workers {
  readonly #context: RunContext;
  readonly counts = { finished: 0, failed: 0 };
  /** each rollout listens to its own signal: one shared by thousands would slow all of them down */
  readonly #running = new Set<AbortController>();
  readonly #writing = new Set<Promise<void>>();
  readonly #waiting: (() => void)[] = [];
  readonly #putOff: PlannedRollout[] = [];
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

  start({ rollouts, size }: { rollouts: Iterable<PlannedRollout>; size: number }): Promise<void>[] {
    const workers = Math.min(this.#atOnce, size);
    return Array.from({ length: workers }, () => this.#work(rollouts).catch((error) => this.stop(error)));
  }

  /** Resolves when every record is on disk. */
  async finish(): Promise<void> {
    await Promise.all(this.#writing);
    if (!this.#context.abort.aborted) this.#crash.signal.throwIfAborted();
  }

  async #work(rollouts: Iterable<PlannedRollout>): Promise<void> {
    if (this.#isStopped()) return;
    for (const planned of this.#withPutOff(rollouts)) {
      const controller = new AbortController();
      this.#running.add(controller);
      const rollout = new Rollout(this.#context, planned, controller.signal);
      const played = await rollout.play().finally(() => this.#running.delete(controller));
      if (played.putOff) this.#putOff.push(played.putOff);
      this.#keep(played);
      if (this.#writing.size > this.#maxUnwritten) await new Promise<void>((resolve) => this.#waiting.push(resolve));
      if (this.#isStopped()) return;
    }
  }

  /** What was put off is played last, by the last worker. */
  *#withPutOff(rollouts: Iterable<PlannedRollout>): Iterable<PlannedRollout> {
    yield* rollouts;
    while (this.#running.size === 0 && this.#putOff.length > 0) yield this.#putOff.shift() as PlannedRollout;
  }

  #keep({ written }: PlayedRollout): void {
    const done = written
      .then(
        (outcome) => {
          if (outcome) this.counts[outcome.stopReason === "infrastructure" ? "failed" : "finished"]++;
        },
        (error) => this.stop(error),
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
  }

  #abortAll(reason: unknown): void {
    for (const controller of this.#running) controller.abort(reason);
  }
}
