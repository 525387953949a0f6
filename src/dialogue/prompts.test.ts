import { expect, test } from "vitest";
import { END_TOKENS, type Query } from "../core/index.ts";
import { agentSystemPrompt, userGuidelines, userSystemPrompt } from "./prompts.ts";

const query: Query = { id: "q", messages: [], userSystemPrompt: "You owe $& and $$5.", taskInfo: {}, hash: "" };

test("the agent is given the policy under a preamble that parameters are asked for rather than guessed", () => {
  const prompt = agentSystemPrompt("Loans last four weeks.", {});
  expect(prompt).toMatch(/ask the user for it\. Never guess/);
  expect(prompt.indexOf("Never guess")).toBeLessThan(prompt.indexOf("Loans last four weeks."));
});

test("without a policy the preamble does not speak of one", () => {
  expect(agentSystemPrompt(undefined, {})).not.toContain("policy below");
  expect(agentSystemPrompt(undefined, {})).toMatch(/Never guess/);
});

test("a config's system prompt replaces the agent's, with the policy where {policy} stands", () => {
  expect(agentSystemPrompt("P", { systemPrompt: "Be brief." })).toBe("Be brief.");
  expect(agentSystemPrompt("Fees: $$5, $&, $'.", { systemPrompt: "Rules: {policy} End." })).toBe(
    "Rules: Fees: $$5, $&, $'. End.",
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
