import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { json } from "../../test/support/json-text.ts";
import { ExactNumber, toPlain, withExactNumbers, writeExact } from "./exact-json.ts";
import { canonicalJson, contentHash, isObject, parseExact } from "./json.ts";

describe("exact JSON", () => {
  test("is written as it was read", () => {
    fc.assert(
      fc.property(json, (text) => {
        expect(writeExact(parseExact(text))).toBe(text);
      }),
      { numRuns: 500 },
    );
    for (const text of ["1.0", "-0", "1E5", "1e400", "-9223372036854775808", "12345678901234567890", "0.10"]) {
      expect(writeExact(parseExact(text))).toBe(text);
      expect(writeExact(parseExact(` { "a" : [ ${text} , "${text}" ] } `))).toBe(`{"a":[${text},"${text}"]}`);
    }
  });

  test("is the value of JSON.parse, and the very same where no number changes", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = JSON.stringify(value);
        const parsed = JSON.parse(text);
        expect(withExactNumbers(parsed, text)).toBe(parsed);
        expect(writeExact(value)).toBe(text);
      }),
    );
    fc.assert(
      fc.property(json, (text) => {
        fc.pre(!text.includes("null"));
        const plain = JSON.stringify(toPlain(parseExact(text)));
        expect(plain.replaceAll(/-?1\.7976931348623157e\+308/g, "null")).toBe(JSON.stringify(JSON.parse(text)));
      }),
    );
  });

  test("texts that look like its own marks stay texts", () => {
    for (const text of ['["\\u00011.0",1.0]', '["\\u0001\\u0001","\\"\\u00011.0",1.0]', '["\\\\u00011",-0]'])
      expect(writeExact(parseExact(text))).toBe(text);
  });

  test("what is not JSON has no value, exact numbers or not", () => {
    for (const text of ["", "{1.0:2}", "[1.0", "[-]", "[01.0]", '"1.0', "[1.]", "1.0 2.0"])
      expect(parseExact(text)).toBeUndefined();
  });

  test("ten thousand levels are read and written", () => {
    for (const inner of ["1", "1.0"]) {
      const text = `${'[{"a":'.repeat(10_000)}${inner}${"}]".repeat(10_000)}`;
      expect(writeExact(withExactNumbers(JSON.parse(text), text)) === text).toBe(true);
    }
  });

  test("is written like JSON where values are not JSON", () => {
    const value = { a: undefined, b: [undefined, Number.NaN, () => 1], c: new Date(0), d: parseExact("1.0") };
    expect(writeExact(value)).toBe('{"b":[null,null,null],"c":"1970-01-01T00:00:00.000Z","d":1.0}');
  });

  test("`__proto__` is a member like any other", () => {
    const value = parseExact('{"__proto__":1.0,"a":{"__proto__":{"b":2.0}}}') as object;
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    expect(Object.keys(value)).toEqual(["__proto__", "a"]);
  });
});

test("an exact number is no object, and to other code the nearest number", () => {
  const exact = new ExactNumber("12345678901234567890");
  expect(isObject(exact)).toBe(false);
  expect([Number(exact), +new ExactNumber("1.0") + 1]).toEqual([12345678901234567000, 2]);
  expect(JSON.stringify([exact, new ExactNumber("1e400"), new ExactNumber("-1e400")])).toBe(
    `[12345678901234567000,${Number.MAX_VALUE},${-Number.MAX_VALUE}]`,
  );
});

test("canonical texts and hashes tell exact numbers apart, and are what they were for others", () => {
  expect(canonicalJson(parseExact('{"b":1.0,"a":[-0]}'))).toBe('{"a":[-0],"b":1.0}');
  expect(contentHash(parseExact("[12345678901234567890]"))).not.toBe(contentHash(parseExact("[12345678901234567891]")));
  expect(contentHash(parseExact('{"a":[1,0.5,-2,1e-7,1e+21]}'))).toBe(contentHash({ a: [1, 0.5, -2, 1e-7, 1e21] }));
});
