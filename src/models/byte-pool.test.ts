import fc from "fast-check";
import { expect, test } from "vitest";
import { BytePool } from "./byte-pool.ts";

test("bytes are as many as were asked for, and nobody else has them until they are given back", () => {
  const step = fc.record({ size: fc.integer({ min: 1, max: 3 << 20 }), givesBack: fc.boolean() });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const pool = new BytePool();
      const held: Buffer[] = [];
      for (const { size, givesBack } of steps) {
        const bytes = pool.take(size);
        expect(bytes.length).toBe(size);
        expect(held.some(({ buffer }) => buffer === bytes.buffer)).toBe(false);
        if (givesBack) pool.give(bytes);
        else held.push(bytes);
      }
    }),
    { numRuns: 50 },
  );
});

test("the next dialogue's bodies take the bytes of the one before, although each body is a little longer", () => {
  const pool = new BytePool();
  const known = new Set<ArrayBufferLike>();
  const play = () => {
    let made = 0;
    let last = pool.take(30_000);
    for (let size = 31_000; size <= 230_000; size += 1000) {
      if (!known.has(last.buffer)) made++;
      known.add(last.buffer);
      const next = pool.take(size);
      pool.give(last);
      last = next;
    }
    pool.give(last);
    return made;
  };
  expect(play()).toBeLessThan(20);
  expect(play()).toBe(0);
});

test("large ones are not kept, and no more than 32 MB of the others", () => {
  const pool = new BytePool();
  const large = pool.take((1 << 20) + 1);
  pool.give(large);
  expect(pool.take((1 << 20) + 1).buffer).not.toBe(large.buffer);
  const taken = Array.from({ length: 40 }, () => pool.take(1 << 20));
  for (const bytes of taken) pool.give(bytes);
  const again = new Set(Array.from({ length: 40 }, () => pool.take(1 << 20).buffer));
  expect(taken.filter(({ buffer }) => again.has(buffer))).toHaveLength(32);
});
