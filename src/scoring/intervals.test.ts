import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createRandom, sum } from "../core/index.ts";
import { passAtK, passHatK } from "./estimators.ts";
import {
  type Cluster,
  differenceInterval,
  type Interval,
  meanInterval,
  shareInterval,
  studentT975,
} from "./intervals.ts";
import { numbersOf, queryNumbers } from "./numbers.ts";
import { compareReports } from "./report/compare.ts";
import type { Report } from "./report/report.ts";

const repeat = <T>(times: number, item: T): T[] => Array.from({ length: times }, () => item);
const widthOf = (range: Interval | undefined) => (range ? range.high - range.low : Number.NaN);

describe("an interval", () => {
  test("of queries that pass or fail as wholes is close to Clopper and Pearson's", () => {
    // exactly, of 45 of 50: 0.7819 to 0.9667
    const { low, high } = meanInterval([...repeat(45, 1), ...repeat(5, 0)]) as Interval;
    expect(low).toBeCloseTo(0.7819, 1);
    expect(high).toBeCloseTo(0.9667, 2);
  });

  test("is not a point where nothing varies, and ends at the bound that was reached", () => {
    const all = shareInterval(repeat(20, { total: 5, count: 5 })) as Interval;
    expect(all.high).toBe(1);
    expect(all.low).toBeCloseTo(0.85, 2);
    const none = shareInterval(repeat(20, { total: 0, count: 5 })) as Interval;
    expect(none.low).toBe(0);
    expect(none.high).toBeCloseTo(1 - all.low, 12);
    expect(widthOf(meanInterval(repeat(20, 0.7)))).toBeGreaterThan(0.02);
  });

  test("needs two queries; two that disagree say almost nothing", () => {
    expect(shareInterval([{ total: 3, count: 5 }])).toBeUndefined();
    expect(meanInterval([1])).toBeUndefined();
    expect(differenceInterval([0.5])).toBeUndefined();
    expect(
      shareInterval([
        { total: 1, count: 2 },
        { total: 0, count: 0 },
      ]),
    ).toBeUndefined();
    expect(widthOf(meanInterval([0, 1]))).toBeGreaterThan(0.95);
    expect(meanInterval([1, 1])?.low).toBeLessThan(0.2);
  });

  test("does not take rollouts of one query for independent ones", () => {
    const same = Array.from({ length: 20 }, (_, index) => ({ total: index % 2 === 0 ? 10 : 0, count: 10 }));
    const mixed = Array.from({ length: 20 }, (_, index) => ({ total: index % 2 === 0 ? 6 : 4, count: 10 }));
    expect(widthOf(shareInterval(same))).toBeGreaterThan(4 * widthOf(shareInterval(mixed)));
  });

  test("is wider where one query has most of the rollouts", () => {
    const even = repeat(10, [
      { total: 2, count: 4 },
      { total: 4, count: 4 },
    ]).flat();
    const uneven = [{ total: 150, count: 200 }, ...even];
    expect(widthOf(shareInterval(uneven))).toBeGreaterThan(2 * widthOf(shareInterval(even)));
  });

  test("holds its estimate and stays within its bounds, whatever the queries", () => {
    const cluster = fc
      .record({ count: fc.integer({ min: 1, max: 64 }), part: fc.double({ min: 0, max: 1, noNaN: true }) })
      .map(({ count, part }) => ({ count, total: part < 0.3 ? 0 : part > 0.7 ? count : part * count }));
    fc.assert(
      fc.property(fc.array(cluster, { minLength: 2, maxLength: 60 }), (clusters) => {
        const { low, high } = shareInterval(clusters) as Interval;
        const share = sum(clusters.map(({ total }) => total)) / sum(clusters.map(({ count }) => count));
        expect([low >= 0, low <= share + 1e-9, high >= share - 1e-9, high <= 1, high > low]).not.toContain(false);
        const differences = clusters.map(({ total, count }, index) => (index % 3 === 0 ? -1 : 1) * (total / count));
        const mean = sum(differences) / differences.length;
        const range = differenceInterval(differences) as Interval;
        expect([range.low >= -1, range.low <= mean + 1e-9, range.high >= mean - 1e-9, range.high <= 1]).not.toContain(
          false,
        );
      }),
      { numRuns: 500, seed: 1 },
    );
  });

  test("of a hundred thousand queries is the ordinary one", () => {
    const { low, high } = meanInterval(Array.from({ length: 100_000 }, (_, index) => (index % 5) / 4)) as Interval;
    const reach = 1.959964 * Math.sqrt(0.125 / 100_000);
    expect(low).toBeCloseTo(0.5 - reach, 4);
    expect(high).toBeCloseTo(0.5 + reach, 4);
  });

  test("of pass@k is over the queries that have k rollouts, and there is none if fewer than two have", () => {
    const tally = (scored: number, passed: number) => ({ rollouts: scored, scored, passed, score: passed });
    const numbers = numbersOf([tally(4, 2), tally(2, 1), tally(2, 2)]);
    expect(numbers.pass_at_k_interval["2"]).toEqual(meanInterval([passAtK(4, 2, 2), 1, 1] as number[]));
    expect(numbers.pass_at_k_interval["3"]).toBeNull();
    expect(numbers.pass_at_k["3"]).toBe(1);
    expect(numbers.pass_hat_k_interval["5"]).toBeUndefined();
  });
});

describe("the interval of a difference", () => {
  test("is no point if two runs agree everywhere, and the same in both directions", () => {
    const { low, high } = differenceInterval(repeat(20, 0)) as Interval;
    expect(high).toBeCloseTo(0.136, 3);
    expect(low).toBe(-high);
    const differences = [...repeat(30, 0), 0.5, 1, -0.25];
    const there = differenceInterval(differences) as Interval;
    const back = differenceInterval(differences.map((difference) => -difference)) as Interval;
    expect(back.low).toBeCloseTo(-there.high, 12);
    expect(back.high).toBeCloseTo(-there.low, 12);
  });

  test("is given for every run against the first, on the queries that all have, and in words", () => {
    const reportOn = (passes: { [query: string]: number | null }) => {
      const queries = Object.entries(passes).map(([query, passed]) => {
        const scored = passed === null ? 0 : 4;
        return [query, queryNumbers({ rollouts: 4, scored, passed: passed ?? 0, score: passed ?? 0 })];
      });
      return {
        folder: "",
        agents: [],
        datasets: { Desk: { queries: Object.fromEntries(queries) } },
      } as unknown as Report;
    };
    const first = reportOn({ a: 0, b: 2, c: 4, d: 4, e: null, only: 4 });
    const second = reportOn({ a: 4, b: 3, c: 3, d: 4, e: 4 });
    const { runs } = compareReports([first, second, first]);
    const { low, high } = differenceInterval([1, 0.25, -0.25, 0]) as Interval;
    expect(runs.map(({ difference }) => difference)).toMatchObject([
      null,
      { mean: 0.25, interval: { low, high }, better: 2, worse: 1, ties: 1 },
      { mean: 0, better: 0, worse: 0, ties: 4 },
    ]);
    const range = `95 % −${(-100 * low).toFixed(1)} to +${(100 * high).toFixed(1)}`;
    expect(runs[1]?.difference?.words).toBe(
      `run 2 − run 1: +25.0 points (${range}), 4 shared queries, better on 2, worse on 1`,
    );
    expect(compareReports([reportOn({ a: 4 }), reportOn({ a: 3 })]).runs[1]?.difference?.words).toBe(
      "run 2 − run 1: −25.0 points (no interval), 1 shared query, better on 0, worse on 1",
    );
    expect(compareReports([reportOn({ e: null }), second]).runs[1]?.difference).toBeNull();
  });
});

describe("of a thousand simulated runs, 93 % or more have intervals that hold the truth", () => {
  const RUNS = 1000;
  const beta = (a: number, b: number) => ({ a, b });
  /** The mean of (1-p)^k. */
  const missAll = ({ a, b }: { a: number; b: number }, k: number) =>
    Array.from({ length: k }, (_, i) => (b + i) / (a + b + i)).reduce((x, y) => x * y);

  /** By Pólya's urn, which is the same as drawing the query's chance from the Beta distribution first. */
  function drawPasses(next: () => number, { a, b }: { a: number; b: number }, rollouts: number): number {
    let passed = 0;
    for (let i = 0; i < rollouts; i++) if (next() * (a + b + i) < a + passed) passed++;
    return passed;
  }

  function coverage(queries: number, target: number, measure: (next: () => number) => number | Cluster): number {
    const { next } = createRandom("coverage", queries, target);
    let held = 0;
    for (let run = 0; run < RUNS; run++) {
      const clusters = Array.from({ length: queries }, () => measure(next));
      const range = shareInterval(clusters.map((own) => (typeof own === "number" ? { total: own, count: 1 } : own)));
      if (range && range.low <= target && range.high >= target) held++;
    }
    return held / RUNS;
  }

  test.each([
    { name: "success rate, Beta(2, 2), 50 queries", queries: 50, chances: beta(2, 2), n: 4, k: 1 },
    { name: "pass@4, Beta(2, 2), 100 queries", queries: 100, chances: beta(2, 2), n: 8, k: 4 },
    { name: "pass@2, Beta(1, 9), 50 queries", queries: 50, chances: beta(1, 9), n: 8, k: 2 },
  ])("$name, and not many more", ({ queries, chances, n, k }) => {
    const target = 1 - missAll(chances, k);
    const share = coverage(queries, target, (next) => passAtK(n, drawPasses(next, chances, n), k) as number);
    expect(share).toBeGreaterThan(0.93);
    expect(share).toBeLessThan(0.98);
  });

  test("pass@4 near 1 and pass^4 near 0, where failures are rare", () => {
    const rare = missAll(beta(9, 1), 4);
    const at = coverage(50, 1 - rare, (next) => passAtK(8, drawPasses(next, beta(9, 1), 8), 4) as number);
    const hat = coverage(50, rare, (next) => passHatK(8, drawPasses(next, beta(1, 9), 8), 4) as number);
    expect(Math.min(at, hat)).toBeGreaterThan(0.93);
  });

  test("the success rate of queries with one to eight rollouts", () => {
    const share = coverage(50, 0.5, (next) => {
      const count = 1 + Math.floor(8 * next());
      return { count, total: drawPasses(next, beta(2, 2), count) };
    });
    expect(share).toBeGreaterThan(0.93);
    expect(share).toBeLessThan(0.98);
  });

  test("the difference of two runs, one of which solves every twentieth query for certain", () => {
    const { next } = createRandom("difference");
    let held = 0;
    for (let run = 0; run < RUNS; run++) {
      const differences = Array.from({ length: 50 }, () => {
        const [before, after] = [0, 0].map(() => drawPasses(next, beta(1e12, 1e12), 4) / 4) as [number, number];
        return (next() < 0.05 ? 1 : after) - before;
      });
      const { low, high } = differenceInterval(differences) as Interval;
      if (low <= 0.025 && high >= 0.025) held++;
    }
    expect(held / RUNS).toBeGreaterThan(0.93);
    expect(held / RUNS).toBeLessThan(0.985);
  });
});

test("Student's t goes over into the normal quantile", () => {
  expect(studentT975(1)).toBeCloseTo(12.706, 3);
  expect(studentT975(31)).toBeCloseTo(2.04, 2);
  expect(studentT975(120)).toBeCloseTo(1.98, 2);
  expect(studentT975(1e6)).toBeCloseTo(1.96, 3);
});
