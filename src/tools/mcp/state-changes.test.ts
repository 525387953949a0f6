import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { contentHash, type Json, parseExact } from "../../core/index.ts";
import { changesSince, KnownState, KnownStates } from "./state.ts";
import { changesBetween } from "./state-changes.ts";

const between = (before: string, after: string) => changesSince(new KnownState(before), after);

describe("the changes of a state", () => {
  test("are by id, where it looks like tables", () => {
    const before = { users: { u1: { name: "A", age: 1 }, u2: { name: "B" } }, bills: [{ bill_id: 7, paid: false }] };
    const after = { users: { u1: { name: "A", age: 2 }, u3: { name: "C" } }, bills: [{ bill_id: 7, paid: true }] };
    expect(changesBetween(before, after)).toEqual({
      users: { u1: { age: 2 }, u2: null, u3: { id: "u3", name: "C" } },
      bills: { "7": { paid: true } },
    });
  });

  test("are looked for inside objects that hold nothing but tables", () => {
    const before = { shop: { users: { u1: { name: "A" } }, log: [] }, phone: { apps: [{ id: "x", on: true }] } };
    const after = {
      shop: { users: { u1: { name: "B" } }, log: [{ id: 1 }] },
      phone: { apps: [{ id: "x", on: false }] },
    };
    expect(changesBetween(before, after)).toEqual({
      "shop.users": { u1: { name: "B" } },
      "shop.log": { "1": { id: 1 } },
      "phone.apps": { x: { on: false } },
    });
  });

  test("are of one table with a record for each name, where it does not", () => {
    expect(
      changesBetween(
        { airplane: false, wifi: { on: true, name: "a" }, tags: ["a"] },
        { airplane: true, wifi: { on: false, name: "a" }, tags: [] },
      ),
    ).toEqual({
      state: { airplane: { value: true }, wifi: { on: false }, tags: { value: [] } },
    });
    expect(changesBetween(1, 2)).toEqual({ state: { value: { value: 2 } } });
    expect(changesBetween([1, 2], [2, 1])).toEqual({ state: { value: { value: [2, 1] } } });
    expect(changesBetween({ a: 1 }, [])).toEqual({ state: { value: { value: [] } } });
  });

  test("do not depend on the order of keys, nor on that of a table's rows", () => {
    expect(
      between(
        '{"a":{"x":{"n":1},"y":{"n":2}},"l":[{"id":1},{"id":2}]}',
        '{"l":[{"id":2},{"id":1}],"a":{"y":{"n":2},"x":{"n":1}}}',
      ),
    ).toEqual({});
  });

  test("tell numbers by how they are written", () => {
    expect(between('{"n":2}', '{"n":2.0}')).not.toEqual({});
    expect(between('{"n":2.0}', '{"n":2.0, "m":{}}')).toEqual({ state: { m: {} } });
    expect(contentHash(between('{"n":1}', '{"n":2}'))).not.toBe(contentHash(between('{"n":1}', '{"n":2.0}')));
  });

  test("of a list whose ids are not unique, or not there, are the whole list", () => {
    const before = {
      rows: [
        { id: 1, n: 1 },
        { id: 2, n: 2 },
      ],
    };
    const twice = {
      rows: [
        { id: 1, n: 1 },
        { id: 1, n: 3 },
      ],
    };
    expect(changesBetween(before, twice)).toEqual({ state: { rows: { value: twice.rows } } });
    expect(changesBetween({ rows: ["a"] }, { rows: ["a", "b"] })).toEqual({ state: { rows: { value: ["a", "b"] } } });
  });

  test("may have any names in them", () => {
    const after = parseExact('{"__proto__":{"a":{"toString":1}},"constructor":{"b":{"__proto__":2}}}') as Json;
    const changes = changesBetween({}, after);
    expect(Object.keys(changes).sort()).toEqual(["__proto__", "constructor"]);
    expect(({} as { a?: unknown }).a).toBeUndefined();
  });
});

test("no change is none, and any change is one, whatever the JSON", () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 4 }), fc.json({ maxDepth: 4 }), (one, other) => {
      const [a, b] = [parseExact(one) as Json, parseExact(other) as Json];
      expect(changesBetween(a, parseExact(one) as Json)).toEqual({});
      if (contentHash(a) !== contentHash(b)) expect(changesBetween(a, b)).not.toEqual({});
    }),
    { numRuns: 500 },
  );
});

test("from one state, two that differ are told differently", () => {
  const row = fc.record({ n: fc.integer({ min: 0, max: 2 }), s: fc.constantFrom("a", "b") });
  const table = fc.dictionary(fc.constantFrom("r1", "r2", "r3"), row);
  const list = fc.uniqueArray(fc.record({ id: fc.constantFrom("x", "y", "z"), n: fc.integer({ min: 0, max: 1 }) }), {
    selector: ({ id }) => id,
  });
  const state = fc.record({ table, list, inner: fc.record({ table, flag: row }), flag: fc.boolean() });
  const sorted = (value: { list: { id: string }[] }) =>
    contentHash({ ...value, list: value.list.toSorted((a, b) => (a.id < b.id ? -1 : 1)) });
  fc.assert(
    fc.property(state, state, state, (first, one, other) => {
      const [a, b] = [changesBetween(first, one), changesBetween(first, other)];
      expect(contentHash(a) === contentHash(b)).toBe(sorted(one) === sorted(other));
    }),
    { numRuns: 1000 },
  );
});

test("equal states are kept once", () => {
  const states = new KnownStates();
  const text = JSON.stringify({ a: [1, 2, 3] });
  expect(states.know(text)).toBe(states.know(JSON.stringify({ a: [1, 2, 3] })));
  expect(states.know(text)).not.toBe(states.know("{}"));
});
