import { expect, test } from "vitest";
import { capResult } from "./cap.ts";

test("a result within the limit is left as it is", () => {
  const result = { content: "x".repeat(100), isError: false };
  expect(capResult(result, 100)).toBe(result);
});

test("a longer result keeps head and tail with a mark between, and the whole in raw", () => {
  const content = `${"a".repeat(80)}${"b".repeat(80)}`;
  expect(capResult({ content, isError: true, fault: "tool_error" }, 20)).toEqual({
    content: `${"a".repeat(10)}\n[… 140 of 160 characters left out …]\n${"b".repeat(10)}`,
    isError: true,
    fault: "tool_error",
    raw: content,
  });
});

test("a character of two code units is never cut in half", () => {
  for (const lead of ["", "x"]) {
    const { content } = capResult({ content: lead + "😀".repeat(50) + lead, isError: false }, 22);
    expect(Buffer.from(content).toString()).toBe(content);
  }
});
