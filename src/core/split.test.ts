import fc from "fast-check";
import { expect, test } from "vitest";
import { createShare, parseSplit } from "./split.ts";

test.each([
  ["1/1", { index: 1, count: 1 }],
  ["2/5", { index: 2, count: 5 }],
  ["5/5", { index: 5, count: 5 }],
])("%s is a share", (text, split) => expect(parseSplit(text)).toEqual(split));

test.each(["6/5", "0/5", "1/0", "2", "2/", "/5", "-1/5", "1.5/5", "02/5", " 2/5", "2/5 ", "2 / 5", "a/b", "", "2/5/6"])(
  "%j is none",
  (text) => expect(parseSplit(text)).toBeUndefined(),
);

const sharesOf = (dataset: string, size: number, count: number) =>
  Array.from({ length: count }, (_, at) => {
    const isIn = createShare(dataset, { index: at + 1, count });
    return Array.from({ length: size }, (_, position) => position).filter(isIn);
  });

test("every query is in exactly one share, and shares differ by at most one query", () => {
  fc.assert(
    fc.property(fc.string(), fc.nat(200), fc.integer({ min: 1, max: 30 }), (dataset, size, count) => {
      const shares = sharesOf(dataset, size, count);
      expect(shares.flat().sort((a, b) => a - b)).toEqual(Array.from({ length: size }, (_, position) => position));
      const sizes = shares.map(({ length }) => length);
      expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThanOrEqual(1);
    }),
  );
});

test("datasets of one query each are not all in the first share", () => {
  const datasets = Array.from({ length: 40 }, (_, n) => `dataset ${n}`);
  const sizes = [0, 1, 2, 3].map(
    (share) => datasets.filter((name) => sharesOf(name, 1, 4)[share]?.length === 1).length,
  );
  for (const size of sizes) expect(size).toBeGreaterThan(2);
});

test("shares are the same in every version: runs that have begun rely on it", () => {
  expect(["questions", "StudentAcademicPortal", "问题"].map((name) => sharesOf(name, 6, 3))).toMatchInlineSnapshot(`
    [
      [
        [
          2,
          5,
        ],
        [
          0,
          3,
        ],
        [
          1,
          4,
        ],
      ],
      [
        [
          1,
          4,
        ],
        [
          2,
          5,
        ],
        [
          0,
          3,
        ],
      ],
      [
        [
          2,
          5,
        ],
        [
          0,
          3,
        ],
        [
          1,
          4,
        ],
      ],
    ]
  `);
});
