import { describe, expect, test } from "vitest";
import { identifiersIn, isHardValue, numbersIn, tells } from "./values.ts";

describe("a value is told", () => {
  test.each([
    ["It costs $1,180.00 in all.", 1180],
    ["It costs 1180 dollars.", "1,180"],
    ["You have 10 books, not 100.", 10],
    ["That makes three credits.", 3],
    ["Balance: -25.50", -25.5],
    ["Due on February 13.", "2026-02-13"],
    ["Due on 13 February 2026.", "2026-02-13"],
    ["Due 2026-02-13, 2 pm.", "2026-02-13"],
    ["Due Feb 13th", "2026-02-13T09:00:00Z"],
    ["See you at 2:30 PM.", "14:30"],
    ["See you at 14:30.", "14:30"],
    ["Section math-230-26sp-1 it is.", "MATH-230-26SP-1"],
    ["(ENR-100507)", "ENR-100507"],
    ["It is 45% full", 45],
    ["a 3-credit course", 3],
    ["5mg a day", 5],
  ])("%s tells %s", (text, value) => {
    expect(tells(text, value)).toBe(true);
  });

  test.each([
    ["You have 100 books.", 10],
    ["You have 10 books.", 100],
    ["Section MATH-230-26SP-1", 230],
    ["Room 1180b", 1180],
    ["It costs 1,180", 180],
    ["It costs 1,180", 1],
    ["Version 3.10", 3],
    ["Due on February 14.", "2026-02-13"],
    ["Due on February 1.", "2026-02-13"],
    ["ENR-1005071", "ENR-100507"],
    ["at 12:30 PM", "14:30"],
    ["Due 2026-02-13", 13],
    ["It was never said.", 3],
  ])("%s does not tell %s", (text, value) => {
    expect(tells(text, value)).toBe(false);
  });
});

test("numbers stand for themselves: no digits of identifiers, dates or times", () => {
  expect(numbersIn("A-12, 2026-01-01, 10:30, 5 and 1,000.5 and -3")).toEqual([5, 1000.5, -3]);
});

test("hard values are numbers, dates and identifiers, not prose", () => {
  expect([3, "2026-02-13", "ENR-1", "10:30"].every(isHardValue)).toBe(true);
  expect(["Middlemarch", "Mon/Wed 10:00", true, null, {}].some(isHardValue)).toBe(false);
});

test("identifiers are what nobody makes up by chance", () => {
  expect(identifiersIn("I'm S1007, born 9 April 2004, mail a.b@uni.example, call 555123.")).toEqual([
    "S1007",
    "a.b@uni.example",
    "555123",
  ]);
});
