import fc from "fast-check";
import { expect, test } from "vitest";
import { Places } from "./places.ts";

test("each thing has its own lines, in order, whatever lies between them", () => {
  const action = fc.record({ key: fc.constantFrom("a", "b", "c"), keep: fc.option(fc.nat(5), { freq: 4 }) });
  fc.assert(
    fc.property(fc.array(action, { maxLength: 200 }), (actions) => {
      const places = new Places();
      const model = new Map<string, { offset: number; length: number }[]>();
      for (const [number, { key, keep }] of actions.entries()) {
        const own = model.get(key) ?? [];
        model.set(key, own);
        if (keep === null) {
          const extent = { offset: number * 2 ** 33, length: number };
          places.add(key, extent);
          own.push(extent);
        } else {
          places.keep(key, keep);
          own.length = Math.min(own.length, keep);
        }
      }
      for (const [key, own] of model) expect(places.of(key)).toEqual(own);
    }),
  );
});

test("more lines than one part of the memory holds", () => {
  const places = new Places();
  for (let number = 0; number < 100_000; number++) places.add(String(number % 7), { offset: number, length: 1 });
  expect(places.of("3").map(({ offset }) => offset)).toEqual(
    Array.from({ length: 100_000 }, (_, number) => number).filter((number) => number % 7 === 3),
  );
});
