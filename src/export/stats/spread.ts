// Numbers and names of many records in short: spreads, shares and counts.
import { mean } from "../../core/index.ts";

export type Distribution = { mean: number; min: number; median: number; p95: number; max: number };
export type Share = { count: number; of: number; share: number | undefined };

export function spread(numbers: readonly number[]): Distribution | undefined {
  if (numbers.length === 0) return undefined;
  const sorted = numbers.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] as number;
  return { mean: mean(numbers) ?? 0, min: at(0), median: at(0.5), p95: at(0.95), max: at(1) };
}

export function shareOf(count: number, of: number): Share {
  return { count, of, share: of === 0 ? undefined : count / of };
}

/** How often each number occurs. */
export function histogram(numbers: readonly number[]): { [value: string]: number } {
  const counts: { [value: string]: number } = {};
  for (const number of numbers) counts[number] = (counts[number] ?? 0) + 1;
  return counts;
}

export class Tally {
  readonly #counts = new Map<string, number>();
  add(name: string): void {
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1);
  }
  /** The most frequent first. */
  report(): { [name: string]: number } {
    return Object.fromEntries([...this.#counts].sort(([, a], [, b]) => b - a));
  }
}
