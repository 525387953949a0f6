import { expect, test } from "vitest";
import { END_TOKENS, MODES, type Query } from "../core/index.ts";
import { agentSystemPrompt, userGuidelines, userSystemPrompt } from "./prompts.ts";

const query: Query = { id: "q", messages: [], userSystemPrompt: "You owe $& and $$5.", taskInfo: {}, hash: "" };

test("the agent is given the policy under a preamble that parameters are asked for rather than guessed", () => {
  const prompt = agentSystemPrompt({ policy: "Loans last four weeks.", prompt: {}, mode: "positive" });
  expect(prompt).toMatch(/ask the user for it\. Never guess/);
  expect(prompt.indexOf("Never guess")).toBeLessThan(prompt.indexOf("Loans last four weeks."));
});

test.each(MODES)("in %s without a policy the preamble does not speak of one below", (mode) => {
  expect(agentSystemPrompt({ policy: undefined, prompt: {}, mode: mode })).not.toContain("policy below");
  expect(agentSystemPrompt({ policy: undefined, prompt: {}, mode: mode })).toMatch(/never guess/i);
});

test.each(["no_tool", "wrong_tool"] as const)(
  "in %s the agent is told to say what it cannot do, not that it works by calling tools",
  (mode) => {
    const prompt = agentSystemPrompt({ policy: "Loans last four weeks.", prompt: {}, mode: mode });
    expect(prompt).not.toContain("by calling tools");
    for (const advice of ["say so plainly", "do not pretend", "Never make up data", "name the person or office"])
      expect(prompt).toContain(advice);
    expect(prompt.endsWith("# Policy\n\nLoans last four weeks.")).toBe(true);
  },
);

test("a config's system prompt replaces the agent's, with the policy where {policy} stands", () => {
  expect(agentSystemPrompt({ policy: "P", prompt: { systemPrompt: "Be brief." }, mode: "positive" })).toBe("Be brief.");
  expect(
    agentSystemPrompt({
      policy: "Fees: $$5, $&, $'.",
      prompt: { systemPrompt: "Rules: {policy} End." },
      mode: "no_tool",
    }),
  ).toBe("Rules: Fees: $$5, $&, $'. End.");
});

test("a question is answered without asking back: with tools by research, without them by thinking, and marked as asked", () => {
  const make = (hasTools: boolean, policy?: string) =>
    agentSystemPrompt({ policy, prompt: {}, mode: "positive", answerFormat: "Box it.", question: { hasTools } });
  expect(make(true)).toMatch(/tools[\s\S]*\n- Box it\.$/);
  expect(make(false)).not.toMatch(/tool/);
  for (const prompt of [make(true), make(false)]) {
    expect(prompt).not.toMatch(/ask the user|policy/);
    expect(prompt).toContain("nobody can be asked back");
  }
  expect(make(true, "Cite.").endsWith("# Policy\n\nCite.")).toBe(true);
});

test("{answer_format} in a replaced prompt stands for the sentence on how to mark the answer", () => {
  const prompt = { systemPrompt: "Be brief. {answer_format} {policy}{other}" };
  const answerFormat = "Use $& {policy}.";
  expect(agentSystemPrompt({ policy: "P", prompt, mode: "positive", answerFormat })).toBe(
    "Be brief. Use $& {policy}. P{other}",
  );
});

test("the user's guidelines name one goal at a time, nothing invented, details when asked, exact values and all tokens", () => {
  const prompt = userSystemPrompt(query, {});
  expect(prompt).toContain("one goal at a time");
  expect(prompt).toContain("do not invent");
  expect(prompt).toContain("a detail only when the agent asks");
  expect(prompt).toContain("exactly as it is written");
  for (const token of Object.keys(END_TOKENS)) expect(prompt).toContain(token);
  expect(prompt.endsWith("# Scenario\n\nYou owe $& and $$5.")).toBe(true);
});

test("guidelines of one's own replace ours, and custom ones are added", () => {
  expect(userSystemPrompt(query, { guidelines: "Mine." })).toBe("Mine.\n\n# Scenario\n\nYou owe $& and $$5.");
  const added = userSystemPrompt(query, { customGuidelines: "Write in French." });
  expect(added).toContain("one goal at a time");
  expect(added).toMatch(/Write in French\.\n\n# Scenario/);
});

test("a config's system prompt for the user takes the scenario at {scenario}, or at its end", () => {
  expect(userSystemPrompt(query, { systemPrompt: "Play: {scenario}!" })).toBe("Play: You owe $& and $$5.!");
  expect(userSystemPrompt(query, { systemPrompt: "Play." })).toBe("Play.\n\n# Scenario\n\nYou owe $& and $$5.");
});

test("what fingerprints see of the user's prompt does not depend on the query", () => {
  expect(userGuidelines({ systemPrompt: "Play: {scenario}" })).toBe("Play: {scenario}");
  expect(userGuidelines({ guidelines: "Mine.", customGuidelines: "More." })).toBe("Mine.\n\nMore.");
  expect(userSystemPrompt(query, {}).startsWith(userGuidelines({}))).toBe(true);
});
