import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { passAtK, passHatK } from "./estimators.ts";
import { numbersOf, queryNumbers } from "./numbers.ts";

describe("worked by hand", () => {
  test("ten rollouts of which three passed", () => {
    // C(7,5)/C(10,5) = 21/252; C(3,2)/C(10,2) = 3/45
    expect(passAtK(10, 3, 5)).toBeCloseTo(0.9166666666666666, 12);
    expect(passAtK(10, 3, 1)).toBeCloseTo(0.3, 12);
    expect(passAtK(10, 3, 8)).toBe(1);
    expect(passHatK(10, 3, 1)).toBeCloseTo(0.3, 12);
    expect(passHatK(10, 3, 2)).toBeCloseTo(3 / 45, 12);
    expect(passHatK(10, 3, 4)).toBe(0);
  });

  test.each([
    [4, 2, [0.5, 5 / 6, 1, 1], [0.5, 1 / 6, 0, 0]],
    [3, 0, [0, 0, 0], [0, 0, 0]],
    [3, 3, [1, 1, 1], [1, 1, 1]],
    [1, 1, [1], [1]],
  ])("%d rollouts, %d passed", (n, c, at, hat) => {
    for (const [index, expected] of at.entries()) expect(passAtK(n, c, index + 1)).toBeCloseTo(expected, 12);
    for (const [index, expected] of hat.entries()) expect(passHatK(n, c, index + 1)).toBeCloseTo(expected, 12);
  });

  test("fewer than k rollouts give no number", () => {
    expect(passAtK(4, 2, 5)).toBeUndefined();
    expect(passHatK(0, 0, 1)).toBeUndefined();
  });
});

/** Every way to draw k of the rollouts. */
function* draws(passes: boolean[], k: number): Generator<boolean[]> {
  if (k === 0) yield [];
  else
    for (let i = 0; i + k <= passes.length; i++)
      for (const rest of draws(passes.slice(i + 1), k - 1)) yield [passes[i] as boolean, ...rest];
}

test("both estimators are the share of all draws of k rollouts, counted one by one", () => {
  const cases = fc
    .integer({ min: 1, max: 9 })
    .chain((n) => fc.tuple(fc.constant(n), fc.integer({ min: 0, max: n }), fc.integer({ min: 1, max: n })));
  fc.assert(
    fc.property(cases, ([n, c, k]) => {
      const passes = Array.from({ length: n }, (_, index) => index < c);
      const all = [...draws(passes, k)];
      expect(passAtK(n, c, k)).toBeCloseTo(all.filter((draw) => draw.some(Boolean)).length / all.length, 10);
      expect(passHatK(n, c, k)).toBeCloseTo(all.filter((draw) => draw.every(Boolean)).length / all.length, 10);
    }),
  );
});

test("large counts stay numbers between 0 and 1, and pass@k grows while pass^k shrinks", () => {
  const values = [1, 10, 500, 1000].map((k) => [passAtK(1000, 400, k), passHatK(1000, 400, k)] as [number, number]);
  for (const [at, hat] of values) expect(at >= 0 && at <= 1 && hat >= 0 && hat <= 1).toBe(true);
  for (let index = 1; index < values.length; index++) {
    expect((values[index] as number[])[0]).toBeGreaterThanOrEqual((values[index - 1] as number[])[0] as number);
    expect((values[index] as number[])[1]).toBeLessThanOrEqual((values[index - 1] as number[])[1] as number);
  }
});

describe("over several queries", () => {
  const tally = (scored: number, passed: number, score = passed) => ({ rollouts: scored, scored, passed, score });

  test("pass@k is the mean over the queries that have k rollouts, and says how many those are", () => {
    const numbers = numbersOf([tally(4, 2), tally(2, 2), tally(2, 0)]);
    expect(numbers.pass_at_k["2"]).toBeCloseTo((5 / 6 + 1 + 0) / 3, 12);
    expect(numbers.pass_at_k["3"]).toBeCloseTo(1, 12);
    expect(numbers.queries_with_k).toEqual({ 1: 3, 2: 3, 3: 1, 4: 1 });
    expect(Object.keys(numbers.pass_hat_k)).toEqual(["1", "2", "3", "4"]);
    expect(numbers).toMatchObject({
      query_count: 3,
      scored: 8,
      passed: 4,
      success_rate: 0.5,
      always: 1,
      never: 1,
      wavers: 1,
    });
  });

  test("avg@n is the mean score of the queries, which a long query does not outweigh", () => {
    expect(numbersOf([tally(4, 0, 2), tally(1, 1)]).avg_at_n).toBeCloseTo(0.75, 12);
  });

  test("nothing scored gives nulls, not zeros", () => {
    expect(numbersOf([{ rollouts: 3, scored: 0, passed: 0, score: 0 }])).toMatchObject({
      success_rate: null,
      avg_at_n: null,
      success_interval: null,
      pass_at_k: {},
    });
    expect(queryNumbers({ rollouts: 3, scored: 0, passed: 0, score: 0 })).toMatchObject({
      outcome: "not scored",
      success_rate: null,
    });
  });
});
