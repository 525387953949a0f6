import fc from "fast-check";
import { expect, test } from "vitest";
import { namesakeOf, rolloutId, rolloutSeed } from "./query.ts";
import { createRandom, hexFrom, seedFrom } from "./random.ts";

const key = { dataset: "Clinic", queryId: "q1", rollout: 0 };

test("the first rollout has the query's id, later ones a number behind it", () => {
  expect([0, 1, 12].map((rollout) => rolloutId({ ...key, rollout }))).toEqual(["q1", "q1#1", "q1#12"]);
});

test("the id of a query may be that of another's rollout, and no two keys share one otherwise", () => {
  expect(namesakeOf("a#1")).toEqual({ queryId: "a", rollout: 1 });
  expect(namesakeOf("a\n#b#12")).toEqual({ queryId: "a\n#b", rollout: 12 });
  for (const id of ["a", "a#", "#1", "a#0", "a#01", "a#1 ", "a#-1", "a#1.0", "a#1x"])
    expect(namesakeOf(id)).toBe(undefined);
  const part = fc.constantFrom("a", "b", "#", "0", "1", "2", " ");
  const id = fc.array(part, { minLength: 1, maxLength: 5 }).map((parts) => parts.join(""));
  const anyKey = fc.record({ queryId: id, rollout: fc.nat(12) });
  fc.assert(
    fc.property(anyKey, anyKey, (one, two) => {
      if (rolloutId(one) !== rolloutId(two) || (one.queryId === two.queryId && one.rollout === two.rollout)) return;
      expect([namesakeOf(one.queryId), namesakeOf(two.queryId)]).toContainEqual(one.rollout === 0 ? two : one);
    }),
    { numRuns: 2000 },
  );
});

test("a rollout's seed hangs on the run's seed and on every part of its key, and fits 31 bits", () => {
  const seeds = [
    rolloutSeed(0, key),
    rolloutSeed(1, key),
    rolloutSeed(0, { ...key, dataset: "Library" }),
    rolloutSeed(0, { ...key, queryId: "q2" }),
    rolloutSeed(0, { ...key, rollout: 1 }),
  ];
  expect(new Set(seeds).size).toBe(seeds.length);
  expect(rolloutSeed(0, key)).toBe(rolloutSeed(0, { ...key }));
  for (const seed of seeds) expect(Number.isInteger(seed) && seed >= 0 && seed < 2 ** 31).toBe(true);
});

test("parts of a seed are kept apart", () => {
  expect(seedFrom("ab", "c")).not.toBe(seedFrom("a", "bc"));
  expect(seedFrom("1")).not.toBe(seedFrom(1));
  expect(hexFrom(8, 1, 2)).toMatch(/^[0-9a-f]{8}$/);
  expect(hexFrom(8, 1, 2)).not.toBe(hexFrom(8, 12));
});

test("the same parts draw the same numbers, within their bounds", () => {
  fc.assert(
    fc.property(fc.string(), fc.nat(), fc.integer({ min: 1, max: 1000 }), (name, seed, below) => {
      const [a, b] = [createRandom(name, seed), createRandom(name, seed)];
      for (let draw = 0; draw < 20; draw++) {
        const value = a.int(below);
        expect(value).toBe(b.int(below));
        expect(Number.isInteger(value) && value >= 0 && value < below).toBe(true);
      }
      expect(a.chance(0)).toBe(false);
      expect(a.chance(1)).toBe(true);
    }),
  );
});
