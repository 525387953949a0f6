import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { canonicalJson, contentHash, isObject, isTooDeep, parseJson } from "./json.ts";

/** The same value with the members of every object in another order. */
function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, member]) => [key, reversed(member)]),
  );
}

describe("canonical JSON", () => {
  test("is JSON of the same value", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(JSON.parse(canonicalJson(value))).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });

  test("is one text for equal values, whatever the order of their keys", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(canonicalJson(reversed(value))).toBe(canonicalJson(value));
        expect(contentHash(reversed(value))).toBe(contentHash(value));
      }),
    );
  });

  test("tells different values apart", () => {
    expect(canonicalJson({ a: "1" })).not.toBe(canonicalJson({ a: 1 }));
    expect(canonicalJson([1, [2]])).not.toBe(canonicalJson([[1], 2]));
  });

  test("sorts by code unit and leaves out undefined members, as JSON does", () => {
    expect(canonicalJson({ b: 1, B: undefined, a: [undefined, { d: 1, c: 2 }], é: null })).toBe(
      '{"a":[null,{"c":2,"d":1}],"b":1,"é":null}',
    );
  });

  test("keeps a member called __proto__", () => {
    expect(canonicalJson(JSON.parse('{"__proto__":1,"a":2}'))).toBe('{"__proto__":1,"a":2}');
  });
});

test("a content hash is sixteen hex digits, and a text is hashed as it stands", () => {
  fc.assert(fc.property(fc.jsonValue(), (value) => /^[0-9a-f]{16}$/.test(contentHash(value))));
  expect(contentHash("{ }")).not.toBe(contentHash({}));
});

test("a text that is not JSON has no value", () => {
  expect(parseJson("{")).toBeUndefined();
  expect(parseJson("null")).toBeNull();
  expect(parseJson(`${"[".repeat(10_000)}${"]".repeat(10_000)}`)).toBeUndefined();
});

test("depth is counted outside strings only, and never by recursion", () => {
  const nested = (depth: number) => "[".repeat(depth) + "]".repeat(depth);
  expect([isTooDeep(nested(128)), isTooDeep(nested(129)), isTooDeep(nested(1_000_000))]).toEqual([false, true, true]);
  expect(isTooDeep(JSON.stringify(["[".repeat(500), '\\"{{', "{".repeat(500)]))).toBe(false);
  expect(isTooDeep(JSON.stringify(Array(500).fill([[]])))).toBe(false);
  fc.assert(
    fc.property(fc.jsonValue({ depthSize: "large" }), fc.nat(4), (value, limit) => {
      const depthOf = (part: unknown): number =>
        typeof part === "object" && part !== null ? 1 + Math.max(0, ...Object.values(part).map(depthOf)) : 0;
      const text = JSON.stringify(value);
      expect(isTooDeep(text, limit)).toBe(text.length > limit && depthOf(value) > limit);
    }),
  );
});
