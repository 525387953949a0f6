import { expect, test } from "vitest";
import { createRandom } from "../core/index.ts";
import { meanInterval, shareInterval, studentT975 } from "./intervals.ts";

test("a share's interval, worked by hand", () => {
  // queries with 2 of 4, 4 of 4 and 0 of 4: share 0.5, deviations 0, 2, -2, variance 3/2 * 8 / 144, t(2) = 4.303
  const reach = (4.303 * Math.sqrt(1.5 * 8)) / 12;
  const { low, high } = shareInterval([
    { total: 2, count: 4 },
    { total: 4, count: 4 },
    { total: 0, count: 4 },
  ]) as { low: number; high: number };
  expect(reach).toBeGreaterThan(0.5);
  expect([low, high]).toEqual([0, 1]);
  const many = shareInterval(Array.from({ length: 40 }, (_, index) => ({ total: index % 5, count: 4 })));
  const error = Math.sqrt((40 / 39) * 8 * (4 + 1 + 0 + 1 + 4)) / 160;
  expect(many?.high).toBeCloseTo(0.5 + studentT975(39) * error, 10);
});

test("rollouts of one query do not count as if they were independent", () => {
  const same = Array.from({ length: 20 }, (_, index) => ({ total: index % 2 === 0 ? 10 : 0, count: 10 }));
  const mixed = Array.from({ length: 20 }, (_, index) => ({ total: index % 2 === 0 ? 6 : 4, count: 10 }));
  const width = (clusters: typeof same) => {
    const range = shareInterval(clusters) as { low: number; high: number };
    return range.high - range.low;
  };
  expect(width(same)).toBeGreaterThan(4 * width(mixed));
});

test("one query has no interval; many that all pass have one that is not a point", () => {
  expect(shareInterval([{ total: 3, count: 5 }])).toBeUndefined();
  expect(meanInterval([1])).toBeUndefined();
  const all = shareInterval(Array.from({ length: 20 }, () => ({ total: 5, count: 5 })));
  expect(all?.high).toBe(1);
  expect(all?.low).toBeCloseTo(0.8389, 3);
});

test("about nineteen of twenty intervals hold the true share", () => {
  const random = createRandom("coverage");
  let held = 0;
  const trials = 600;
  for (let trial = 0; trial < trials; trial++) {
    const clusters = Array.from({ length: 40 }, () => {
      const own = random.next(); // each query has its own chance; their mean is one half
      return { total: Array.from({ length: 5 }, () => random.chance(own)).filter(Boolean).length, count: 5 };
    });
    const range = shareInterval(clusters) as { low: number; high: number };
    if (range.low <= 0.5 && range.high >= 0.5) held++;
  }
  expect(held / trials).toBeGreaterThan(0.92);
  expect(held / trials).toBeLessThan(0.98);
});

test("Student's t goes over into the normal quantile", () => {
  expect(studentT975(1)).toBeCloseTo(12.706, 3);
  expect(studentT975(31)).toBeCloseTo(2.04, 2);
  expect(studentT975(120)).toBeCloseTo(1.98, 2);
  expect(studentT975(1e6)).toBeCloseTo(1.96, 3);
});
