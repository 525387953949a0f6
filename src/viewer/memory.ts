// How much of what this process may use is used: a run can have more rollouts than fit, and to stop in time is better than
// to die.
import { getHeapStatistics } from "node:v8";

/** So many things are read between two looks. */
const EVERY = 2048;

/** Of the process's memory; what comes later needs some, too. */
export const SHARES = { records: 0.4, scores: 0.6, rest: 0.85 };

export class MemoryGauge {
  #count = 0;

  /** Whether there is no room for more. */
  isFull(share: number): boolean {
    if (++this.#count % EVERY !== 0) return false;
    const { used_heap_size: used, heap_size_limit: limit } = getHeapStatistics();
    return used > share * limit;
  }
}

/** What to say about a file of which only a part fits. */
export function describeFull(file: string, lines: string): string {
  const megabytes = Math.round(getHeapStatistics().heap_size_limit / 2 ** 20);
  return `${file}: only ${lines} fit into memory, the rest is not shown. Start again with NODE_OPTIONS=--max-old-space-size=${megabytes * 4}, which allows four times as much`;
}
