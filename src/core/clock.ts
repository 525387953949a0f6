// Time is passed in, so that tests decide what it is.

export interface Clock {
  /** milliseconds since the epoch */
  now(): number;
  sleep(milliseconds: number, signal?: AbortSignal): Promise<void>;
}

export const systemClock: Clock = {
  now: () => Date.now(),
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
