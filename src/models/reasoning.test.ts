import { expect, test } from "vitest";
import { joinReasoning, splitThinking } from "./reasoning.ts";

test.each([
  ["text without thinking stays as it is", "  Hello.\n", { content: "  Hello.\n" }],
  ["inline thinking is split off", "<think>\nHm.\n</think>\n\nHello.", { content: "Hello.", reasoning: "Hm." }],
  ["a missing opening tag is no obstacle", "Hm.\n</think>\nHello.", { content: "Hello.", reasoning: "Hm." }],
  ["thinking that never closes is all reasoning", "\n<think>Hm, let me", { content: "", reasoning: "Hm, let me" }],
  ["several thoughts become one", "<think>a</think>x <think>b</think>y", { content: "x y", reasoning: "a\nb" }],
  ["text before the thinking is kept", "Well. <think>a</think>So.", { content: "Well. So.", reasoning: "a" }],
  ["empty thinking leaves no reasoning", "<think>\n\n</think>\n\nHello.", { content: "Hello." }],
  ["an opening tag amid the text is text", "Write <think> here.", { content: "Write <think> here." }],
  ["a stray second closing tag is text", "<think>a</think>b</think>c", { content: "b</think>c", reasoning: "a" }],
  [
    "an opening tag inside a thought belongs to it",
    "<think>a <think> b</think>c",
    { content: "c", reasoning: "a <think> b" },
  ],
])("%s", (_, text, expected) => {
  expect(splitThinking(text)).toEqual(expected);
});

test("reasoning from two places becomes one text, and nothing stays nothing", () => {
  expect(joinReasoning("a", "b")).toBe("a\nb");
  expect(joinReasoning(undefined, "b")).toBe("b");
  expect(joinReasoning(undefined, "")).toBeUndefined();
});
