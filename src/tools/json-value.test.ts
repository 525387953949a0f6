import fc from "fast-check";
import { expect, test } from "vitest";
import { findNonJson, requireJsonRow } from "./json-value.ts";

const nested = (depth: number): unknown => (depth === 0 ? 1 : [nested(depth - 1)]);

test("whatever JSON can say passes, as a result and as a row", () => {
  fc.assert(
    fc.property(fc.jsonValue({ depthSize: "large" }), (value) => {
      expect(findNonJson(value)).toBeUndefined();
      expect(() => requireJsonRow({ row_id: "1", value }, "T")).not.toThrow();
    }),
  );
});

test("a stranger is found wherever it is, and named with its place", () => {
  const strangers: [unknown, string][] = [
    [() => 1, "a function"],
    [Symbol("s"), "a symbol"],
    [1n, "a BigInt"],
    [new Map(), "a Map"],
    [new Set(), "a Set"],
    [Promise.resolve(), "a Promise"],
    [/x/, "a RegExp"],
    [new TypeError("x"), "a TypeError"],
  ];
  fc.assert(
    fc.property(
      fc.constantFrom(...strangers),
      fc.array(fc.string({ minLength: 1 }), { maxLength: 6 }),
      ([stranger, what], path) => {
        const value = path.reduceRight<unknown>(
          (inner, key) =>
            Object.fromEntries([
              ["before", 1],
              [key, inner],
            ]),
          stranger,
        );
        expect(findNonJson(value)).toBe(path.length > 0 ? `${what} as "${path.join(".")}"` : what);
        expect(() => requireJsonRow({ value }, "T")).toThrow(`its "${["value", ...path].join(".")}" is ${what}`);
      },
    ),
  );
});

test("depth is limited, circles end, and a few objects cannot stand for billions", () => {
  expect(findNonJson(nested(128))).toBeUndefined();
  expect(findNonJson(nested(129))).toContain("nested deeper than 128 levels or contains itself");
  const circle: unknown[] = [];
  circle.push(circle);
  expect(findNonJson(circle)).toContain("contains itself");
  let doubled: unknown = [1];
  for (let n = 0; n < 100; n++) doubled = [doubled, doubled];
  expect(findNonJson(doubled)).toContain("more than 2000000 values");
});

test("what knows how to write itself is fine in a result, but not in a row, which is compared member by member", () => {
  expect(findNonJson({ at: new Date(0) })).toBeUndefined();
  expect(() => requireJsonRow({ at: new Date(0) }, "T")).toThrow('A row of T must be JSON, but its "at" is a Date');
});
