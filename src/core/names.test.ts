import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { didYouMean, fold, nearest } from "./names.ts";

const tools = ["verify_student", "get_course", "drop_course", "list_courses", "request_transcript"];

describe("the nearest name", () => {
  test.each([
    ["get_coarse", "get_course"],
    ["getCourse", "get_course"],
    ["GET-COURSES", "get_course"],
    ["requst_transcrpt", "request_transcript"],
    ["list_course", "list_courses"],
  ])("of %s is %s", (written, meant) => {
    expect(nearest(written, tools)).toBe(meant);
  });

  test("of something else altogether is nothing", () => {
    expect(nearest("pay_invoice", tools)).toBeUndefined();
    expect(nearest("x", tools)).toBeUndefined();
    expect(nearest("get_course", [])).toBeUndefined();
  });

  test("of a name that exists is that name, in any spelling", () => {
    fc.assert(
      fc.property(fc.constantFrom(...tools), (name) => {
        expect(nearest(name, tools)).toBe(name);
        expect(nearest(name.toUpperCase().replaceAll("_", " "), tools)).toBe(name);
      }),
    );
  });

  test("is found through one slip of the keyboard, whichever letter it hits", () => {
    fc.assert(
      fc.property(fc.constantFrom(...tools), fc.nat(), fc.constantFrom("", "x", "qq"), (name, at, slip) => {
        const position = at % name.length;
        expect(nearest(name.slice(0, position) + slip + name.slice(position + 1), tools)).toBe(name);
      }),
    );
  });
});

test("the hint is a phrase to append, or nothing", () => {
  expect(didYouMean("get_corse", tools)).toBe('; did you mean "get_course"?');
  expect(didYouMean("weather", tools)).toBe("");
});

test("folding keeps letters and digits of every script and nothing else", () => {
  expect(fold("Campus_Navigator-MCP 2")).toBe("campusnavigatormcp2");
  expect(fold("学生_服务")).toBe("学生服务");
});
