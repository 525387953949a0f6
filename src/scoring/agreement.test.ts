import fc from "fast-check";
import { expect, test } from "vitest";
import { cohensKappa } from "./agreement.ts";

type Pair = [string, string];
const times = (count: number, pair: Pair): Pair[] => Array.from({ length: count }, () => pair);

// computed by hand
const CASES: [title: string, pairs: Pair[], kappa: number | null][] = [
  // agreed 35 of 50; chance 25·30 + 25·20 = 1250 of 2500: (0.7 - 0.5) / (1 - 0.5)
  [
    "two verdicts",
    [...times(20, ["a", "a"]), ...times(5, ["a", "r"]), ...times(10, ["r", "a"]), ...times(15, ["r", "r"])],
    0.4,
  ],
  // agreed 60 of 100 in both, but chance differs: 0.54 and 0.46
  [
    "leaning the same way",
    [...times(45, ["a", "a"]), ...times(15, ["a", "r"]), ...times(25, ["r", "a"]), ...times(15, ["r", "r"])],
    (0.6 - 0.54) / 0.46,
  ],
  [
    "leaning different ways",
    [...times(25, ["a", "a"]), ...times(35, ["a", "r"]), ...times(5, ["r", "a"]), ...times(35, ["r", "r"])],
    (0.6 - 0.46) / 0.54,
  ],
  // three verdicts: agreed 3 of 4; chance (2·1 + 1·2 + 1·1) / 16 = 5/16
  [
    "three verdicts",
    [
      ["a", "a"],
      ["a", "r"],
      ["r", "r"],
      ["u", "u"],
    ],
    (3 / 4 - 5 / 16) / (11 / 16),
  ],
  [
    "always the opposite",
    [
      ["a", "r"],
      ["r", "a"],
    ],
    -1,
  ],
  [
    "all alike",
    [
      ["a", "a"],
      ["r", "r"],
    ],
    1,
  ],
  [
    "no more than chance",
    [
      ["a", "a"],
      ["a", "r"],
      ["r", "a"],
      ["r", "r"],
    ],
    0,
  ],
  ["only ever one verdict", times(5, ["a", "a"]), null],
  ["nothing in common", [], null],
];

test.each(CASES)("kappa of a case computed by hand: %s", (_, pairs, kappa) => {
  if (kappa === null) expect(cohensKappa(pairs)).toBeNull();
  else expect(cohensKappa(pairs)).toBeCloseTo(kappa, 12);
});

test("kappa is the same whoever is named first, at most 1, and 1 exactly where all are alike", () => {
  const verdict = fc.constantFrom("accept", "reject", "unsure");
  fc.assert(
    fc.property(fc.array(fc.tuple(verdict, verdict), { minLength: 1 }), (pairs) => {
      const kappa = cohensKappa(pairs);
      expect(cohensKappa(pairs.map(([a, b]) => [b, a]))).toBe(kappa);
      if (kappa === null) return;
      expect(kappa).toBeLessThanOrEqual(1);
      expect(kappa === 1).toBe(pairs.every(([a, b]) => a === b));
    }),
  );
});
