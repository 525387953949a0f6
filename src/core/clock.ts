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

let lastSecond = Number.NaN;
/** up to the point before the milliseconds */
let lastText = "";

/** As `toISOString` writes it. Thousands ask within the same second. */
export function timestamp(clock: Clock): string {
  const now = Math.trunc(clock.now());
  const second = Math.floor(now / 1000);
  if (second !== lastSecond) lastText = new Date(second * 1000).toISOString().slice(0, -4);
  lastSecond = second;
  return `${lastText}${String(now - second * 1000).padStart(3, "0")}Z`;
}
