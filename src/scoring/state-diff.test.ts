import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { StateChanges } from "../core/index.ts";
import { compareStates, diffLines } from "./state-diff.ts";

const booking = (id: string, more: object = {}) => ({ [id]: { booking_id: id, slot: "S1", member: "M1", ...more } });
const kinds = (actual: StateChanges, expected: StateChanges, volatile = {}) =>
  compareStates(actual, expected, volatile).map(({ kind }) => kind);

describe("each kind of difference", () => {
  test("equal states have none, whatever ids their new records were given", () => {
    expect(kinds({ Booking: booking("B-1") }, { Booking: booking("B-9") })).toEqual([]);
    expect(kinds({}, {})).toEqual([]);
  });

  test("a missing new record", () => {
    const [difference] = compareStates({}, { Booking: booking("B-9") });
    expect(difference).toMatchObject({ kind: "missing", table: "Booking" });
    expect(difference?.text).toContain('slot "S1"');
  });

  test("a new record that should not be there", () => {
    expect(kinds({ Booking: booking("B-1") }, {})).toEqual(["unexpected"]);
  });

  test("a new record once too often", () => {
    const twice = { Booking: { ...booking("B-1"), ...booking("B-2") } };
    expect(kinds(twice, { Booking: booking("B-9") })).toEqual(["duplicate"]);
    expect(kinds({ Booking: booking("B-1") }, twice)).toEqual(["missing"]);
  });

  test("a new record with another value, shown next to the one that was expected", () => {
    const lines = diffLines(compareStates({ Booking: booking("B-1", { slot: "S2" }) }, { Booking: booking("B-9") }));
    expect(lines).toEqual(['~ Booking B-1 (new): slot should be "S1", is "S2"']);
  });

  test("a changed record with another value, a change that did not happen, a change too many", () => {
    const change = (id: string, status: string): StateChanges => ({ Loan: { [id]: { status } } });
    expect(diffLines(compareStates(change("L1", "lost"), change("L1", "renewed")))).toEqual([
      '~ Loan L1: status should be "renewed", is "lost"',
    ]);
    expect(diffLines(compareStates({}, change("L1", "renewed")))).toEqual([
      '- Loan L1: did not change: expected status "renewed"',
    ]);
    expect(diffLines(compareStates(change("L2", "lost"), {}))).toEqual([
      '+ Loan L2: should not have changed: status "lost"',
    ]);
  });

  test("a deletion that did not happen, and one that should not have", () => {
    const gone: StateChanges = { Loan: { L1: null } };
    expect(kinds({}, gone)).toEqual(["not_deleted"]);
    expect(kinds(gone, {})).toEqual(["deleted"]);
    expect(kinds(gone, { Loan: { L1: { status: "renewed" } } })).toEqual(["deleted"]);
    expect(kinds(gone, gone)).toEqual([]);
  });
});

test("volatile fields do not count, and a record in which only they changed has not changed", () => {
  const at = (time: string, id: string): StateChanges => ({
    Booking: booking(id, { at: time }),
    Loan: { L1: { seen: time } },
  });
  expect(kinds(at("09:00", "B-1"), at("10:00", "B-2"), { Booking: ["at"], Loan: ["seen"] })).toEqual([]);
  expect(kinds({ Loan: { L1: { seen: "x" } } }, {}, { Loan: ["seen"] })).toEqual([]);
  expect(kinds(at("09:00", "B-1"), at("10:00", "B-2"))).toEqual(["different", "different"]);
});

describe("generated ids", () => {
  const state = (charge: string, payment: string, paid = charge): StateChanges => ({
    Charge: { [charge]: { charge_id: charge, amount: 25 } },
    Payment: { [payment]: { payment_id: payment, charges: [paid], note: `for ${paid}` } },
    Account: { A1: { last_charge: paid, by_charge: { [paid]: true } } },
  });

  test("are mapped wherever they stand: in lists, in texts, in keys, in other records", () => {
    expect(kinds(state("CHG-1", "PAY-1"), state("CHG-8", "PAY-9"))).toEqual([]);
  });

  test("pointing at another record is a difference", () => {
    expect(kinds(state("CHG-1", "PAY-1", "CHG-OLD"), state("CHG-8", "PAY-9"))).toEqual([
      "different",
      "missing",
      "unexpected",
    ]);
  });

  test("that point at one of two new records point at the one with the same content", () => {
    const two = (a: string, b: string, chosen: string): StateChanges => ({
      Room: { [a]: { room_id: a, floor: 1 }, [b]: { room_id: b, floor: 2 } },
      Key: { K1: { room: chosen } },
    });
    expect(kinds(two("R-1", "R-2", "R-2"), two("R-7", "R-8", "R-8"))).toEqual([]);
    expect(kinds(two("R-1", "R-2", "R-1"), two("R-7", "R-8", "R-8"))).toEqual(["different"]);
  });
});

test("renaming the new ids of any state changes nothing, and dropping a record is always seen", () => {
  const rows = fc.uniqueArray(fc.record({ value: fc.integer(), to: fc.nat({ max: 5 }) }), {
    minLength: 1,
    maxLength: 6,
  });
  fc.assert(
    fc.property(rows, (list) => {
      const build = (prefix: string, items: typeof list): StateChanges => ({
        Item: Object.fromEntries(
          items.map(({ value, to }, index) => [
            `${prefix}-${index}`,
            { item_id: `${prefix}-${index}`, value, next: `${prefix}-${to % items.length}` },
          ]),
        ),
      });
      expect(compareStates(build("a", list), build("b", list))).toEqual([]);
      expect(compareStates(build("a", list.slice(1)), build("b", list)).length).toBeGreaterThan(0);
    }),
  );
});
