// Time is passed in, so that tests decide what it is.
import { onAbort } from "./abort.ts";

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
      const leave = signal && onAbort(signal, abort);
      const timer = setTimeout(done, milliseconds);
      function done() {
        leave?.();
        resolve();
      }
      function abort() {
        leave?.();
        clearTimeout(timer);
        reject(signal?.reason);
      }
    }),
};

let lastMoment = Number.NaN;
let lastText = "";

/** Many ask within the same millisecond. */
export function timestamp(clock: Clock): string {
  const now = clock.now();
  if (now !== lastMoment) lastText = new Date(now).toISOString();
  lastMoment = now;
  return lastText;
}
