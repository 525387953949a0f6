import { describe, expect, test } from "vitest";
import type { Blame } from "../core/index.ts";
import { taskScore } from "./task-score.ts";

const result = (
  check: string,
  pass: boolean | null,
  score: number | null = pass === null ? null : Number(pass),
  blame?: Blame,
) => ({
  check,
  pass,
  score,
  reason: `${check} says so`,
  ...(blame ? { blame } : {}),
});
const stopped = { stop_reason: "user_stop" as const };

test("the task's score is the product of its checks' unless told otherwise", () => {
  const results = [result("a", true, 1), result("b", false, 0.5), result("c", false, 0.4)];
  expect(taskScore(results, stopped).score).toBeCloseTo(0.2, 12);
  expect(taskScore(results, stopped, "mean").score).toBeCloseTo(1.9 / 3, 12);
  expect(taskScore(results, stopped, "min").score).toBe(0.4);
});

test("what could not be checked takes no part, and alone it is no score", () => {
  const unscored = { pass: null, score: null, decided_by: [] };
  expect(taskScore([result("a", true), result("b", null)], stopped)).toEqual({
    pass: true,
    score: 1,
    decided_by: ["a"],
  });
  expect(taskScore([result("b", null)], stopped)).toEqual(unscored);
  expect(taskScore([], stopped)).toEqual(unscored);
});

test("a guard's pass solves nothing, its failure fails; if only guards were asked for, they decide", () => {
  const guard = (check: string, pass: boolean) => ({ ...result(check, pass), guards: true });
  expect(taskScore([guard("user", true), result("state", null)], stopped)).toMatchObject({
    pass: null,
    decided_by: [],
  });
  expect(taskScore([guard("user", true), result("state", true)], stopped)).toMatchObject({ decided_by: ["state"] });
  expect(taskScore([guard("policy", false), result("state", true)], stopped)).toMatchObject({
    pass: false,
    decided_by: ["policy"],
  });
  expect(taskScore([guard("policy", true), guard("user", true)], stopped)).toMatchObject({
    pass: true,
    decided_by: ["policy", "user"],
  });
});

describe("blame", () => {
  test("the agent's, with the reasons of all failed checks", () => {
    expect(taskScore([result("a", false, 0, "agent"), result("b", false), result("c", true)], stopped)).toMatchObject({
      blame: "agent",
      evidence: "a: a says so; b: b says so",
    });
  });

  test("the user's, where its check failed or the dialogue ended through it", () => {
    expect(taskScore([result("user", false, 0, "user"), result("state", false)], stopped)).toMatchObject({
      blame: "user",
    });
    const ending = { stop_reason: "user_fault" as const, blame: "user" as const, message: "user_empty" };
    expect(taskScore([result("state", false)], ending)).toMatchObject({
      blame: "user",
      evidence: "user_fault: user_empty",
    });
  });

  test("the agent's, where it broke a rule, whatever the user did", () => {
    expect(taskScore([result("user", false, 0, "user"), result("policy", false)], stopped)).toMatchObject({
      blame: "agent",
      evidence: "policy: policy says so",
    });
  });

  test("a tool's, where a check found that the tool broke down", () => {
    expect(taskScore([result("actions", false, 0, "tool"), result("state", false)], stopped)).toMatchObject({
      blame: "tool",
    });
  });

  test("the judge's, where it is the reason that there is no score; never the agent's", () => {
    expect(taskScore([result("quality", null, null, "judge")], stopped)).toMatchObject({ pass: null, blame: "judge" });
    expect(taskScore([result("quality", null, null, "judge"), result("state", true)], stopped)).toEqual({
      pass: true,
      score: 1,
      decided_by: ["state"],
    });
  });

  test("the machinery's, where time ran out", () => {
    expect(taskScore([result("state", false)], { stop_reason: "time_limit" })).toMatchObject({
      blame: "infrastructure",
    });
    expect(taskScore([result("state", false)], { stop_reason: "token_budget" })).toMatchObject({ blame: "agent" });
  });

  test("nobody's, where the task was done all the same", () => {
    expect(taskScore([result("state", true)], { stop_reason: "max_steps", blame: "agent" })).toEqual({
      pass: true,
      score: 1,
      decided_by: ["state"],
    });
  });
});
