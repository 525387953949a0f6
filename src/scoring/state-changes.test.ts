import { expect, test } from "vitest";
import { subtractStates } from "./state-changes.ts";

test("what a call did is what differs from the look before it", () => {
  const before = { Loan: { l1: { loan_id: "l1", book: "b1", days: 7 }, l2: null }, Book: { b1: { lent: true } } };
  const after = {
    Loan: { l1: { loan_id: "l1", book: "b1", days: 14 }, l2: null, l3: null },
    Book: { b2: { lent: true, by: "m1" } },
  };
  expect(subtractStates(after, before)).toEqual({
    Loan: { l1: { days: 14 }, l3: null },
    Book: { b1: {}, b2: { lent: true, by: "m1" } },
  });
  expect(subtractStates(after, after)).toEqual({});
});
