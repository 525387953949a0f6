import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { describeAnswerFormat, markAnswer, readAnswer } from "./answer-format.ts";

const FORMATS = ["answer-tag", "boxed", "last-line", "json:answer", "json:result.value", "whole"];

describe("an answer is read from a reply", () => {
  test.each<[string | undefined, string, string]>([
    [undefined, "It is <answer> Paris </answer>.", "Paris"],
    [undefined, "Hence \\boxed{\\frac{1}{2}}.", "\\frac{1}{2}"],
    [undefined, "**Answer:** 15", "15"],
    [undefined, "I looked.\n\n**Answer**: 15\n\nBye.", "15"],
    [undefined, "Some steps.\nFinal answer: 12", "12"],
    [undefined, "**Final Answer: 15**", "15"],
    [undefined, "Answer: 3\nNo, wait.\nAnswer: 4", "4"],
    [undefined, "### Answer\n\n15", "15"],
    [undefined, "So the final answer is: **15**.", "15."],
    [undefined, "答案：**巴黎**", "巴黎"],
    [undefined, "Answer:\n- red\n- blue", "- red\n- blue"],
    [undefined, "  Just this.  ", "Just this."],
    [undefined, "The answers vary: 1 or 2", "The answers vary: 1 or 2"],
    [undefined, "<think>Answer: 1</think>\nIt is 2.", "It is 2."],
    ["answer-tag", "<answer>a</answer> then <answer>b</answer>", "b"],
    ["answer-tag", "<ANSWER>a\nb</ANSWER>", "a\nb"],
    ["answer-tag", "It is <answer>Paris", "Paris"],
    ["answer-tag", "I use <answer> tags: <answer>Paris</answer>", "Paris"],
    ["answer-tag", "<answer>Paris</answer>, inside <answer> as you asked", "Paris"],
    ["answer-tag", "<answer>Paris</answer>\n<answer>Lyon", "Lyon"],
    ["answer-tag", "<answer></answer>", ""],
    ["answer-tag", "Paris", ""],
    ["answer-tag", "<answers>Paris</answers>", ""],
    ["boxed", "\\boxed{a} and \\boxed{\\text{b {c}}}", "\\text{b {c}}"],
    ["boxed", "so $\\boxed{15}$", "15"],
    ["boxed", "\\boxed{f(\\{1\\})}", "f(\\{1\\})"],
    ["boxed", "it is \\boxed{15$\nBye", "15"],
    ["boxed", "15", ""],
    ["last-line", "Because.\n\n**15**\n", "15"],
    ["last-line", "Because.\nAnswer: 15\n```\n", "15"],
    ["last-line", "15\r\n", "15"],
    ["last-line", " \n", ""],
    ["json:answer", 'Here:\n```json\n{"reason": "a } b", "answer": "Paris"}\n```', "Paris"],
    ["json:answer", '{"answer": "a"} and {"answer": "b"} and {"other": 1}', "b"],
    ["json:answer", '{"answer": 12345678901234567890}', "12345678901234567890"],
    ["json:answer", '{"answer": ["a", "b"]}', '["a","b"]'],
    ["json:answer", 'Set {x} is {"answer": "a"}', "a"],
    ["json:answer", '{"answer": null}', ""],
    ["json:answer", '{"answer": "a"', ""],
    ["json:result.value", '{"result": {"value": 3}}', "3"],
    ["json:a.b", '{"a.b": 4, "a": {"b": 5}}', "4"],
    ["whole", " Answer: 15 ", "Answer: 15"],
  ])("%s of %j is %j", (format, text, answer) => {
    expect(readAnswer(text, format)).toBe(answer);
  });

  test("as it was marked, in every format, and the agent is told how", () => {
    const answer = fc
      .stringMatching(/^[\p{L}\p{N}][\p{L}\p{N} ,.-]{0,30}[\p{L}\p{N}]$/u)
      .filter((text) => !/answer|答案/i.test(text));
    for (const format of FORMATS) {
      expect(describeAnswerFormat(format)).toMatch(/answer/);
      if (format === "json:result.value") continue;
      fc.assert(
        fc.property(answer, (text) => {
          const lead = format === "whole" ? "" : "I looked it up.\n";
          expect(readAnswer(`${lead}${markAnswer(text, format)}`, format)).toBe(text.trim());
        }),
      );
    }
    expect(describeAnswerFormat()).toContain("<answer>");
    expect(describeAnswerFormat("json:city")).toContain('"city"');
  });

  test("from replies of nothing but marks without waiting for long", () => {
    for (const part of ["{", '{"', "<answer>", "\\boxed{", "answer:\n", "**", "#\n"])
      for (const format of [undefined, ...FORMATS])
        expect(typeof readAnswer(part.repeat(20_000), format)).toBe("string");
  });
});
