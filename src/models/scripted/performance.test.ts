import { describe, expect, test } from "vitest";
import type { JsonObject, ReferencePlan, ToolSpec } from "../../core/index.ts";
import { FAILURES, type Failure, type Performance, perform } from "./performance.ts";

const tool = (name: string, readOnly: boolean, properties: JsonObject, required: string[]): ToolSpec => ({
  name,
  description: "",
  parameters: { type: "object", properties, required },
  readOnly,
});
const tools = [
  tool("find_loan", true, { title: { type: "string" }, shelf: { type: "string" } }, ["title"]),
  tool("list_loans", true, { status: { enum: ["open", "closed"] } }, []),
  tool("renew_loan", false, { loan_id: { type: "string" }, confirm: { type: "boolean" } }, ["loan_id"]),
];
const plan: ReferencePlan = [
  {
    steps: [
      { calls: [{ name: "list_loans", arguments: { status: "open" } }] },
      { calls: [{ name: "find_loan", arguments: { shelf: "B", title: "Emma" } }] },
      { calls: [{ name: "renew_loan", arguments: { loan_id: "{{find_loan.loan_id}}" } }] },
    ],
    say: "Shall I renew {{find_loan.title}}?",
  },
  {
    user: "Yes.",
    steps: [{ calls: [{ name: "renew_loan", arguments: { loan_id: "{{find_loan.loan_id}}", confirm: true } }] }],
    say: "Renewed until {{renew_loan.due}}.",
  },
  { user: "###STOP###" },
];
const at = (skill: number, seed: number) => perform(plan, { skill, seed, tools, wireName: (name) => name });
const callsOf = (performance: Performance, turn: number) =>
  performance.turns[turn]?.steps.flatMap((step) => step.calls) ?? [];
const many = Array.from({ length: 400 }, (_, seed) => at(0.7, seed));
const calm = (failure: Failure) => {
  const found = many.find((performance) => performance.failure === failure && performance.slips === 0);
  if (!found) throw new Error(`no rollout fails by ${failure} without slips`);
  return found;
};

test("at skill 1 the performance is the plan", () => {
  const performance = at(1, 5);
  expect(performance).toMatchObject({ failure: undefined, slips: 0 });
  expect(performance.turns.map(({ steps }) => steps)).toEqual(plan.map(({ steps }) => steps ?? []));
});

test("everything follows from the seed", () => {
  expect(Array.from({ length: 400 }, (_, seed) => at(0.7, seed))).toEqual(many);
  expect(new Set(many.map((performance) => JSON.stringify(performance))).size).toBeGreaterThan(20);
});

test("a share of 1 - skill of the rollouts fails, in all five ways", () => {
  const failed = many.filter(({ failure }) => failure);
  expect(failed.length / many.length).toBeGreaterThan(0.25);
  expect(failed.length / many.length).toBeLessThan(0.35);
  expect(new Set(failed.map(({ failure }) => failure))).toEqual(new Set(FAILURES));
  expect(at(0, 1).failure).toBeDefined();
});

describe("a failure for good", () => {
  test("wrong_argument: the deciding tool gets a wrong value, each time", () => {
    const made = [...callsOf(calm("wrong_argument"), 0), ...callsOf(calm("wrong_argument"), 1)];
    const renewals = made.filter(({ name }) => name === "renew_loan");
    expect(renewals).toHaveLength(2);
    for (const renewal of renewals) expect(renewal.arguments.loan_id).not.toBe("{{find_loan.loan_id}}");
  });
  test("wrong_tool: another tool of the list stands in for the deciding one", () => {
    const [last] = callsOf(calm("wrong_tool"), 1);
    expect(["find_loan", "list_loans"]).toContain(last?.name);
  });
  test("malformed_json: the arguments break off", () => {
    expect(callsOf(calm("malformed_json"), 1)).toMatchObject([{ name: "renew_loan", cut: true }]);
  });
  test("stops_early: the deciding call is never made", () => {
    expect(callsOf(calm("stops_early"), 1)).toEqual([]);
    expect(callsOf(calm("stops_early"), 0)).toHaveLength(3);
  });
  test("missing_confirmation: the write is made before the user agreed, and not again after", () => {
    expect(callsOf(calm("missing_confirmation"), 0).at(-1)?.arguments.confirm).toBe(true);
    expect(callsOf(calm("missing_confirmation"), 1)).toEqual([]);
  });
  test("missing_confirmation needs a plan that asks first", () => {
    const hasty: ReferencePlan = [{ steps: plan[1]?.steps ?? [], say: "Done." }, { user: "###STOP###" }];
    for (let seed = 0; seed < 100; seed++) {
      const { failure } = perform(hasty, { skill: 0, seed, tools, wireName: (name) => name });
      expect(failure).not.toBe("missing_confirmation");
    }
  });
  test("a plan without calls fails by saying nothing of use", () => {
    const refusal: ReferencePlan = [{ say: "I may not do that." }, { user: "###STOP###" }];
    const performance = perform(refusal, { skill: 0, seed: 1, tools, wireName: (name) => name });
    expect(performance).toMatchObject({ failure: "stops_early" });
    expect(performance.turns[0]?.say).not.toBe("I may not do that.");
  });
});

test("a slip is a step of one wrong call, mended in the next step", () => {
  const slipped = many.filter(({ slips, failure }) => slips > 0 && !failure);
  expect(slipped.length).toBeGreaterThan(20);
  for (const { turns } of slipped) {
    const steps = turns.flatMap((turn) => turn.steps);
    for (const [index, step] of steps.entries()) {
      if (!step.calls.some(({ slip }) => slip)) continue;
      expect(step.calls).toHaveLength(1);
      expect(steps[index + 1]?.calls.some(({ slip }) => slip)).toBe(false);
    }
    const mended = steps.map(({ calls }) => calls).filter((calls) => !calls.some(({ slip }) => slip));
    expect(mended).toEqual(plan.flatMap((turn) => (turn.steps ?? []).map(({ calls }) => calls)));
  }
});

test("every slip is one that a tool refuses: a name that is not there, cut arguments, a required one missing", () => {
  const slips = many.flatMap(({ turns, failure }) =>
    failure ? [] : turns.flatMap((turn) => turn.steps.flatMap(({ calls }) => calls.filter(({ slip }) => slip))),
  );
  const kinds = slips.map((call) => {
    const spec = tools.find(({ name }) => name === call.name);
    if (!spec) return "name";
    if (call.cut) return "cut";
    const required = spec.parameters.required as string[];
    expect(required.every((key) => key in call.arguments)).toBe(false);
    return "missing";
  });
  expect(new Set(kinds)).toEqual(new Set(["name", "cut", "missing"]));
});
