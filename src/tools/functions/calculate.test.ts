import fc from "fast-check";
import { expect, test } from "vitest";
import { calculate } from "./calculate.ts";

test.each([
  ["1+2*3", 7],
  ["-2^2", -4],
  ["2^3^2", 512],
  ["2**-1", 0.5],
  ["(1 + 2) * 3 =", 9],
  ["50% * 80", 40],
  ["10 % 3", 1],
  ["10 % -3", -2],
  ["100 - 20% - 5", 94.8],
  ["7 // 2", 3],
  ["1,000 + 1", 1001],
  ["max(1, 20, 3)", 20],
  ["0.1 + 0.2", 0.3],
  ["5×4÷2−1", 9],
  ["math.sqrt(16)", 4],
  ["SQRT(2)^2", 2],
  ["log(100, 10)", 2],
  ["3!", 6],
  ["round(2.675, 2)", 2.68],
  ["0x1F + 1e3", 1031],
  ["2 * π / π", 2],
])("%s is %d", (expression, value) => {
  expect(calculate(expression)).toBeCloseTo(value, 12);
});

test.each([
  ["", "empty"],
  ["2 3", '"3" at position 3'],
  ["((1)", 'a ")" is missing'],
  ["1 +", "ends too early"],
  ["1/0", "division by zero"],
  ["sqrt(-1)", "not defined"],
  ["10^400", "infinite"],
  ["foo(1)", 'there is no "foo"'],
  ["process.exit(1)", 'there is no "process.exit"'],
  ["constructor", 'there is no "constructor"'],
  ["__proto__", "not expected"],
  ["sqrt 2", "needs its arguments in parentheses"],
  ["min()", "takes 1 to 100 arguments, not 0"],
  ["(-1)^0.5", "no such power"],
  ["1.5!", "whole number"],
  ["(".repeat(1000), "nested too deeply"],
  ["1+".repeat(3000), "longer than 5000"],
  ["what is two plus two", 'there is no "what"'],
])("%j is an error that says why", (expression, message) => {
  expect(() => calculate(expression)).toThrow(message);
});

test("sums and products of numbers are JavaScript's own", () => {
  const term = fc.tuple(fc.constantFrom("+", "-", "*"), fc.integer({ min: 0, max: 999 }));
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 999 }), fc.array(term, { maxLength: 5 }), (first, terms) => {
      const expression = terms.reduce((text, [sign, value]) => `${text} ${sign} ${value}`, String(first));
      expect(calculate(expression)).toBe(Number(new Function(`return ${expression}`)()) + 0);
    }),
  );
});

test("no text makes it fail in another way than with a sentence", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), (text) => {
      try {
        expect(Number.isFinite(calculate(text))).toBe(true);
      } catch (error) {
        expect((error as Error).constructor).toBe(Error);
      }
    }),
  );
});
