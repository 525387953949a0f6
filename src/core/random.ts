// Seeded randomness: the same parts give the same numbers on every machine.
import { createHash } from "node:crypto";

export type Random = {
  /** in [0, 1) */
  next(): number;
  /** a whole number in [0, below) */
  int(below: number): number;
  pick<T>(items: readonly T[]): T;
  chance(probability: number): boolean;
};

export function createRandom(...parts: (string | number)[]): Random {
  let state = seedFrom(...parts);
  const next = () => {
    // mulberry32
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
  const int = (below: number) => Math.floor(next() * below);
  return {
    next,
    int,
    pick: <T>(items: readonly T[]) => items[int(items.length)] as T,
    chance: (probability) => next() < probability,
  };
}

/** A whole number in [0, 2^31): fits every provider's `seed`. */
export function seedFrom(...parts: (string | number)[]): number {
  return digest(parts).readUInt32BE(0) >>> 1;
}

export function hexFrom(digits: number, ...parts: (string | number)[]): string {
  return digest(parts).toString("hex").slice(0, digits);
}

function digest(parts: (string | number)[]): Buffer {
  return createHash("sha256").update(JSON.stringify(parts)).digest();
}
