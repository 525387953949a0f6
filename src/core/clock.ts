// Time is passed in, so that tests decide what it is.

export interface Clock {
  /** milliseconds since the epoch: for timestamps only, since it can be set back or forward at any time */
  now(): number;
  /** milliseconds since some moment; only ever runs forward: for durations, deadlines and rates */
  elapsed(): number;
  sleep(milliseconds: number, signal?: AbortSignal): Promise<void>;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  elapsed: () => performance.now(),
  sleep: (milliseconds, signal) =>
    new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      const timer = setTimeout(done, milliseconds);
      signal?.addEventListener("abort", abort, { once: true });
      function done() {
        signal?.removeEventListener("abort", abort);
        resolve();
      }
      function abort() {
        clearTimeout(timer);
        reject(signal?.reason);
      }
    }),
};

export function timestamp(clock: Clock): string {
  return new Date(clock.now()).toISOString();
}
