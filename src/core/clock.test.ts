import fc from "fast-check";
import { expect, test } from "vitest";
import { systemClock, timestamp } from "./clock.ts";

test("a timestamp is the moment as toISOString writes it, whatever was asked for before", () => {
  const moments = fc.oneof(
    fc.date({ noInvalidDate: true }),
    fc.constantFrom(0, -1, 999, 1000).map((ms) => new Date(ms)),
  );
  fc.assert(
    fc.property(fc.array(moments, { minLength: 1, maxLength: 5 }), (dates) => {
      for (const date of dates) {
        const clock = { ...systemClock, now: () => date.getTime() };
        expect(timestamp(clock)).toBe(date.toISOString());
      }
    }),
  );
});
