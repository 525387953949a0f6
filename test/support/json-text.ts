// Any JSON as text, for properties: its numbers are all that JSON can write, not only what JavaScript would.
import fc from "fast-check";

const digits = (min: number, max: number) =>
  fc.array(fc.constantFrom(..."0123456789"), { minLength: min, maxLength: max }).map((list) => list.join(""));

/** Any number that JSON can write. */
const number = fc
  .tuple(
    fc.constantFrom("", "-"),
    fc.oneof(
      fc.constant("0"),
      fc.tuple(fc.constantFrom(..."123456789"), digits(0, 30)).map(([first, rest]) => first + rest),
    ),
    fc.option(digits(1, 20), { nil: undefined }),
    fc.option(fc.tuple(fc.constantFrom("e", "E", "e+", "E-", "e-"), digits(1, 4)), { nil: undefined }),
  )
  .map(([sign, whole, part, power]) => `${sign}${whole}${part ? `.${part}` : ""}${power ? power.join("") : ""}`);

/** Keys like `1` move to the front of any JavaScript object. */
const key = fc.string({ unit: "binary" }).filter((text) => !/^\d+$/.test(text));

/** Texts without spaces, as JSON.stringify would write them apart from their numbers. */
export const { json } = fc.letrec<{ json: string }>((tie) => ({
  json: fc.oneof(
    { maxDepth: 4 },
    number,
    fc.constantFrom("true", "false", "null"),
    fc.string({ unit: "binary" }).map((text) => JSON.stringify(text)),
    fc.array(tie("json"), { maxLength: 4 }).map((items) => `[${items.join(",")}]`),
    fc
      .uniqueArray(fc.tuple(fc.oneof(key, fc.constant("__proto__")), tie("json")), {
        maxLength: 4,
        selector: ([name]) => name,
      })
      .map((members) => `{${members.map(([name, member]) => `${JSON.stringify(name)}:${member}`).join(",")}}`),
  ),
}));
