// The time that is left for work whose answer nobody can wait for any longer.
import { type Clock, RolloutError } from "../core/index.ts";

/** More than a timer can count would be no time at all. */
const MAX_TIMER_MS = 2 ** 31 - 1;

export class TimeLimit {
  /** aborted when the time is up, or as the signal it was made from */
  readonly signal: AbortSignal;
  readonly #late = new AbortController();
  readonly #done = new AbortController();
  readonly #timeUp: Promise<undefined>;

  constructor(clock: Clock, milliseconds: number, signal: AbortSignal) {
    this.signal = AbortSignal.any([signal, this.#late.signal]);
    const left = Math.min(Math.max(0, milliseconds), MAX_TIMER_MS);
    this.#timeUp = clock.sleep(left, this.#done.signal).then(
      () => undefined,
      () => new Promise<never>(() => {}), // answered in time
    );
  }

  /** What the work comes to; undefined if the time is up before, and then it is given up. */
  async within<T>(work: Promise<T>): Promise<T | undefined> {
    let isLate = true;
    const answer = work.finally(() => {
      isLate = false;
    });
    const first = await Promise.race([answer, this.#timeUp]);
    if (first !== undefined || !isLate) return first;
    answer.catch(() => {});
    this.#late.abort(new RolloutError("tool", "the rollout's time is up"));
    return undefined;
  }

  /** Everything was answered: the timer goes. */
  end(): void {
    this.#done.abort();
  }
}
