import fc from "fast-check";
import { expect, test } from "vitest";
import { wellFormed, wellFormedJson } from "./text.ts";

const half = fc.constantFrom("\ud800", "\udbff", "\udc00", "\udfff", "\ud83d\ude00", "\\", "\\ud800", "u", "a");
const text = fc.array(half).map((parts) => parts.join(""));

test("JSON without halves is the JSON of the text without them, however it is escaped", () => {
  fc.assert(
    fc.property(text, (value) => {
      const json = JSON.stringify({ [value]: value });
      const repaired = wellFormed(value);
      expect(JSON.parse(wellFormedJson(json))).toEqual({ [repaired]: repaired });
    }),
  );
  fc.assert(
    fc.property(text, (value) => {
      const escaped = Array.from({ length: value.length }, (_, index) => escapeUnit(value, index)).join("");
      expect(JSON.parse(wellFormedJson(`"${escaped}"`))).toBe(wellFormed(value));
    }),
  );
});

test("JSON that needs no repair stays as it is, escaped pairs included", () => {
  for (const json of ['"\\ud83d\\uDE00"', '"\\\\ud83d"', '{"a": 1.0}']) expect(wellFormedJson(json)).toBe(json);
});

function escapeUnit(value: string, index: number): string {
  return `\\u${value.charCodeAt(index).toString(16).padStart(4, "0")}`;
}
