import { describe, expect, test } from "vitest";
import { createQuery, GOOD, RENEWAL, type Scene, type Step, sceneOf } from "../../../test/support/scoring-desk.ts";
import type { JsonObject, Trajectory } from "../../core/index.ts";
import { actionsCheck } from "./actions.ts";
import { communicateCheck } from "./communicate.ts";
import { policyCheck } from "./policy.ts";
import { stateCheck } from "./state.ts";
import { userCheck } from "./user.ts";

const actions = async (steps: Step[], rules = {}, scene: Scene = {}) =>
  actionsCheck(rules).run(await sceneOf(steps, scene));
const without = (name: string, confirm?: boolean) =>
  GOOD.filter(
    (step) =>
      Array.isArray(step) ||
      step.call !== name ||
      (confirm !== undefined && Boolean((step.with as { confirm?: boolean }).confirm) !== confirm),
  );

describe("actions", () => {
  test("effects count: lookups, previews, sign-ins and the order of calls are the agent's affair", async () => {
    expect(await actions(GOOD)).toMatchObject({ pass: true, score: 1, reason: "its effects are the reference's" });
    expect(await actions([{ call: "find_loan", with: { loan_id: "L2" } }, ...GOOD])).toMatchObject({ pass: true });
    expect(await actions(without("authorize"))).toMatchObject({ pass: true });
    expect(await actions(without("renew_loan", false))).toMatchObject({ pass: true });
  });

  test("a missing write fails, and says how it was missed", async () => {
    const none = await actions(without("renew_loan"));
    expect(none).toMatchObject({ pass: false, score: 0, blame: "agent" });
    expect(none.reason).toContain('renew_loan {"loan_id":"L1","confirm":true} was not called');
    expect((await actions(without("renew_loan", true))).reason).toContain("was only previewed");
    const other: Step[] = [...without("renew_loan"), { call: "renew_loan", with: { loan_id: "L2", confirm: true } }];
    expect((await actions(other)).reason).toContain('loan_id "L2" instead of "L1"');
    const malformed: Step[] = [...without("renew_loan"), { call: "renew_loan", with: '{"loan_id": ' }];
    expect((await actions(malformed)).reason).toContain("never well-formed");
  });

  test("two writes that end where one of the reference ends are right", async () => {
    const plan = [{ steps: [{ calls: [{ name: "return_loan", arguments: { loan_id: "L1" } }] }] }];
    const roundabout: Step[] = [
      { call: "renew_loan", with: { loan_id: "L1", confirm: true } },
      { call: "return_loan", with: { loan_id: "L1" } },
    ];
    expect(await actions(roundabout, {}, { query: createQuery(plan) })).toMatchObject({ pass: true });
  });

  test("another effect than the reference's fails, and may be allowed", async () => {
    const more: Step[] = [...GOOD, { call: "return_loan", with: { loan_id: "L2" } }];
    expect(await actions(more)).toMatchObject({ pass: false, score: 0 });
    expect(await actions(more, { extra: "all" })).toMatchObject({ pass: true });
    const twice: Step[] = [...GOOD, { call: "authorize", with: { card: "C100" } }];
    expect(await actions(twice)).toMatchObject({ pass: true });
  });

  test("strict asks for the reference's own path", async () => {
    const reversed: Step[] = [
      { call: "renew_loan", with: { loan_id: "L1", confirm: true } },
      { call: "authorize", with: { card: "C100" } },
    ];
    expect(await actions(GOOD, { order: "strict" })).toMatchObject({ pass: true });
    expect(await actions(reversed)).toMatchObject({ pass: true });
    for (const order of ["strict", "reference"] as const) {
      const reason = "the calls came in another order";
      expect(await actions(reversed, { order })).toMatchObject({ pass: false, reason });
    }
    expect(await actions(without("authorize"), { order: "strict" })).toMatchObject({ pass: false, score: 0.5 });
  });

  test("a write that leaves no trace in the records is compared by its arguments", async () => {
    const plan = [{ steps: [{ calls: [{ name: "burn_book", arguments: { title: "Emma" } }] }] }];
    const scene = { query: createQuery(plan as never) };
    expect(await actions([["agent", "Done."]], {}, scene)).toMatchObject({ pass: false });
    expect(await actions([{ call: "burn_book", with: { title: "Emma" } }], {}, scene)).toMatchObject({ pass: true });
    expect(await actions([{ call: "burn_book", with: { title: "Ivanhoe" } }], {}, scene)).toMatchObject({
      pass: false,
    });
  });

  describe("arguments", () => {
    const plan = (args: object) => ({
      query: createQuery([{ steps: [{ calls: [{ name: "reserve", arguments: args as never }] }] }]),
    });
    const reserve = (args: object): Step[] => [{ call: "reserve", with: args as never }];

    test("case and spaces do not matter unless told", async () => {
      expect(await actions(reserve({ title: "emma " }), {}, plan({ title: "Emma" }))).toMatchObject({ pass: true });
      expect(
        await actions(reserve({ title: "emma" }), { case_sensitive: true }, plan({ title: "Emma" })),
      ).toMatchObject({ pass: false });
    });

    test("numbers are numbers, within the tolerance", async () => {
      expect(await actions(reserve({ title: "10.0" }), {}, plan({ title: "10" }))).toMatchObject({ pass: true });
      expect(await actions(reserve({ title: "10.4" }), {}, plan({ title: "10" }))).toMatchObject({ pass: false });
      expect(await actions(reserve({ title: "10.4" }), { tolerance: 0.5 }, plan({ title: "10" }))).toMatchObject({
        pass: true,
      });
    });

    test("free words need only be there; ignored arguments not even that", async () => {
      const wanted = plan({ title: "Emma", note: "for my aunt" });
      expect(await actions(reserve({ title: "Emma", note: "aunt's birthday" }), {}, wanted)).toMatchObject({
        pass: true,
      });
      expect(await actions(reserve({ title: "Emma" }), { order: "strict" }, wanted)).toMatchObject({ pass: false });
      expect(await actions(reserve({ title: "Emma" }), { order: "strict", ignore: ["note"] }, wanted)).toMatchObject({
        pass: true,
      });
      expect(
        await actions(reserve({ title: "Persuasion" }), { free_text: ["title"], ignore: ["note"] }, wanted),
      ).toMatchObject({ pass: true });
    });
  });

  test("what the reference only tried is asked of nobody, unless the path is", async () => {
    const plan = [
      { steps: [{ calls: [{ name: "renew_loan", arguments: { loan_id: "L9" } }] }], say: "There is none." },
    ];
    const scene = { query: createQuery(plan) };
    const tried: Step[] = [{ call: "renew_loan", with: { loan_id: "L9" } }];
    expect(await actions(tried, {}, scene)).toMatchObject({ pass: true });
    expect(await actions([["agent", "No."]], {}, scene)).toMatchObject({ pass: true });
    expect(await actions(tried, { order: "strict" }, scene)).toMatchObject({ pass: true });
    expect(await actions([["agent", "No."]], { order: "strict" }, scene)).toMatchObject({ pass: false });
  });

  test("where the reference does nothing but look, and nothing must be told, looking counts", async () => {
    const plan = [{ steps: [{ calls: [{ name: "find_loan", arguments: { loan_id: "L1" } }] }] }];
    const scene = { query: createQuery(plan) };
    const told = { query: createQuery(plan, { must_tell: [1180] }) };
    expect(await actions([["agent", "It is 1180."]], {}, told)).toMatchObject({ pass: true });
    expect(await actions([{ call: "find_loan", with: { loan_id: "L1" } }], {}, scene)).toMatchObject({ pass: true });
    expect(await actions([{ call: "find_loan", with: { loan_id: "L2" } }], {}, scene)).toMatchObject({ pass: false });
  });

  test.each<JsonObject>([{ answer: "10 February" }, { answers: ["10 February", "February 10"] }])(
    "where the reference does nothing but look, and the answer is known (%j), only unwanted effects count",
    async (known) => {
      const plan = [{ steps: [{ calls: [{ name: "find_loan", arguments: { loan_id: "L1" } }] }] }];
      const scene = { query: createQuery(plan, known) };
      for (const steps of [[{ call: "find_loan", with: { loan_id: "L2" } }], [["agent", "In spring."]]] as Step[][])
        expect(await actions(steps, {}, scene)).toMatchObject({
          pass: null,
          reason: expect.stringContaining("answer"),
        });
      const returned: Step[] = [{ call: "return_loan", with: { loan_id: "L1" } }];
      expect(await actions(returned, {}, scene)).toMatchObject({ pass: false });
      expect(await actions([["agent", "Hm."]], { order: "strict" }, scene)).toMatchObject({ pass: false });
    },
  );

  test("the right call that a broken tool refused is the tool's fault", async () => {
    const steps: Step[] = [
      ...without("renew_loan", true).slice(0, -1),
      { call: "renew_loan", with: { loan_id: "L1", confirm: true }, answers: '{"error":"503 Service Unavailable"}' },
    ];
    expect(await actions(steps)).toMatchObject({ pass: false, blame: "tool" });
  });

  test("without a reference it is not checkable", async () => {
    expect(await actions(GOOD, {}, { query: createQuery(undefined) })).toMatchObject({
      pass: null,
      score: null,
      reason: expect.stringContaining("not checkable"),
    });
  });

  test("names alone are a reference too", async () => {
    const scene = { query: createQuery(undefined, { trajectory: ["authorize", "renew_loan"] }) };
    expect(await actions(GOOD, {}, scene)).toMatchObject({ pass: true, details: { source: "trajectory" } });
    expect(await actions(without("renew_loan", true), {}, scene)).toMatchObject({ pass: false });
  });
});

describe("state", () => {
  test("the calls are played again and what they leave behind is compared", async () => {
    expect(await stateCheck.run(await sceneOf(GOOD))).toMatchObject({ pass: true });
    const wrong = GOOD.map(
      (step): Step =>
        Array.isArray(step) || step.call !== "renew_loan"
          ? step
          : { ...step, with: { ...(step.with as object), loan_id: "L2" } },
    );
    const result = await stateCheck.run(await sceneOf(wrong));
    expect(result).toMatchObject({ pass: false, score: 0, details: { kinds: ["missing", "unexpected"] } });
    expect(result.reason.split("\n")).toEqual([
      '- Loan L1: did not change: expected due "2026-03-10"',
      '+ Loan L2: should not have changed: due "2026-03-10"',
    ]);
  });

  test("new ids and volatile fields differ without harm", async () => {
    const plan = [{ steps: [{ calls: [{ name: "reserve", arguments: { title: "Emma", note: "a" } }] }] }];
    const steps: Step[] = [
      { call: "find_loan", with: { loan_id: "L1" } },
      { call: "reserve", with: { title: "Emma", note: "b" } },
    ];
    expect(await stateCheck.run(await sceneOf(steps, { query: createQuery(plan) }))).toMatchObject({ pass: true });
    const twice = [...steps, steps[1] as Step];
    expect(await stateCheck.run(await sceneOf(twice, { query: createQuery(plan) }))).toMatchObject({
      details: { kinds: ["duplicate"] },
    });
  });

  test("a record that does not lead to its own state again is not checkable", async () => {
    const result = await stateCheck.run(await sceneOf(GOOD, { metadata: { final_state_hash: "other" } }));
    expect(result).toMatchObject({ pass: null, reason: expect.stringContaining("no longer lead") });
  });

  test("a reference of names alone cannot be played", async () => {
    const scene = { query: createQuery(undefined, { trajectory: ["authorize"] }) };
    expect(await stateCheck.run(await sceneOf(GOOD, scene))).toMatchObject({ pass: null });
  });
});

describe("policy", () => {
  const policy = async (steps: Step[]) => policyCheck.run(await sceneOf(steps));
  const renewed: Step = { call: "renew_loan", with: { loan_id: "L1", confirm: true } };
  const authorized: Step = { call: "authorize", with: { card: "C100" } };

  test("a good dialogue keeps all rules", async () => {
    expect(await policy(GOOD)).toMatchObject({ pass: true });
  });

  test("authorisation comes first, and a failed one is none", async () => {
    expect((await policy([{ call: "find_loan", with: { loan_id: "L1" } }, ...GOOD])).reason).toBe(
      "card-first: find_loan was called before authorize",
    );
    expect(await policy([{ call: "authorize", with: { card: "x" } }, { call: "find_loan" }])).toMatchObject({
      pass: false,
    });
  });

  test("a forbidden tool may not be called", async () => {
    expect((await policy([...GOOD, { call: "burn_book" }])).reason).toBe("no-fire: burn_book was called");
  });

  test.each<[string, Step[]]>([
    ["nothing was asked", [authorized, renewed]],
    [
      "a question about something else was answered",
      [["agent", "Which loan?"], ["user", "Middlemarch"], authorized, renewed],
    ],
    [
      "the user said no",
      [
        authorized,
        { call: "renew_loan", with: { loan_id: "L1" } },
        ["agent", "Renew it?"],
        ["user", "No, leave it"],
        renewed,
      ],
    ],
    [
      "the preview was another one",
      [
        authorized,
        { call: "renew_loan", with: { loan_id: "L2" } },
        ["agent", "I can renew it."],
        ["user", "Hm"],
        renewed,
      ],
    ],
    [
      "the preview was never shown",
      [["agent", "Hello."], ["user", "Renew L1"], authorized, { call: "renew_loan", with: { loan_id: "L1" } }, renewed],
    ],
  ])("a write without consent breaks a rule: %s", async (_, steps) => {
    expect(await policy(steps)).toMatchObject({ pass: false, reason: expect.stringContaining("ask-first") });
  });

  test("a question in words and a clear yes are consent", async () => {
    expect(
      await policy([["agent", "Shall I renew L1?"], ["user", "Yes, go ahead"], authorized, renewed]),
    ).toMatchObject({ pass: true });
  });

  test("without rules, or without the domain's tools, it is not checkable", async () => {
    const context = await sceneOf(GOOD);
    expect(policyCheck.run({ ...context, domain: undefined })).toMatchObject({ pass: null });
    expect(policyCheck.run(await sceneOf(GOOD, { metadata: { mode: "no_tool" } }))).toMatchObject({ pass: null });
  });
});

describe("communicate", () => {
  const told = async (text: string, info = {}) =>
    communicateCheck.run(await sceneOf([["agent", text]], { query: createQuery(RENEWAL, info) }));

  const MUST_TELL = { must_tell: ["{{renew_loan.due}}", ["{{renew_loan.fee}}", "free"]] };

  test("what answers the question must be told, in whatever words", async () => {
    expect(await told("It runs until 10 March now. That will be 1,180 dollars.", MUST_TELL)).toMatchObject({
      pass: true,
    });
    expect(await told("Until March 10th, and it is free.", MUST_TELL)).toMatchObject({ pass: true });
    expect(await told("It runs until 10 March. That will be 11,180 dollars.", MUST_TELL)).toMatchObject({
      pass: false,
      score: 0.5,
      reason: "the user was not told 1180 or free",
    });
  });

  test("without a list it is not checkable, whatever numbers the plan happens to say", async () => {
    expect(await told("Renewed.")).toMatchObject({ pass: null });
    expect(await told("Renewed.", { must_tell: [] })).toMatchObject({ pass: null });
    expect(await told("Renewed.", { must_tell: ["{{find_loan.author}}"] })).toMatchObject({ pass: null });
  });

  test("other datasets name the list otherwise", async () => {
    expect(await told("It is ready.", { communicate: ["ready"] })).toMatchObject({ pass: true });
    expect(await told("It is already done.", { communicate: ["ready"] })).toMatchObject({ pass: false });
  });

  test("where nothing must be told it is not checkable", async () => {
    const query = createQuery([{ say: "Hello." }]);
    expect(await communicateCheck.run(await sceneOf(GOOD, { query }))).toMatchObject({ pass: null });
  });
});

describe("user", () => {
  const user = async (steps: Step[], metadata: Partial<Trajectory["metadata"]> = {}, prompt?: string) => {
    const query = { ...createQuery(RENEWAL), ...(prompt ? { userSystemPrompt: prompt } : {}) };
    return userCheck.run(await sceneOf(steps, { query, metadata }));
  };

  test("a user that keeps to its part passes", async () => {
    expect(await user(GOOD)).toMatchObject({ pass: true });
  });

  test("one that spoke as the agent until the dialogue was given up fails", async () => {
    expect(await user(GOOD, { stop_reason: "user_fault", message: "user_speaks_as_assistant" })).toMatchObject({
      pass: false,
      blame: "user",
      reason: expect.stringContaining("user_speaks_as_assistant"),
    });
  });

  test("one that makes up an identifier fails; one that repeats the agent's does not", async () => {
    const used: Step = { call: "authorize", with: { card: "C999" } };
    expect((await user([["user", "My card is C999"], used])).reason).toContain('"C999"');
    expect(await user([["user", "My friend's card is C999"]])).toMatchObject({ pass: true });
    expect(
      await user([
        ["agent", "Is it C999?"],
        ["user", "Yes, C999"],
      ]),
    ).toMatchObject({ pass: true });
  });

  test("one that recites its scenario at once fails", async () => {
    const prompt = "Card C100, loan L1234, branch BR-77-X, mail me@home.example.";
    const recital = "C100 L1234 BR-77-X me@home.example";
    expect((await user([["user", recital]], {}, prompt)).reason).toContain("all 4 values");
    expect(
      await user(
        [
          ["agent", "Card?"],
          ["user", "C100"],
        ],
        {},
        prompt,
      ),
    ).toMatchObject({ pass: true });
  });

  test("one that says yes and is gone before the agent can act fails", async () => {
    const steps = GOOD.slice(0, 6);
    expect(await user(steps)).toMatchObject({
      pass: false,
      reason: expect.stringContaining("while renew_loan waited"),
    });
    expect(await user([...steps.slice(0, 5), ["user", "No, I changed my mind"]])).toMatchObject({ pass: false });
  });

  test("one that leaves a wrong preview is not at fault", async () => {
    const wrong: Step[] = [
      ...GOOD.slice(0, 3),
      { call: "renew_loan", with: { loan_id: "L2" } },
      ["agent", "Shall I renew Emma?"],
      ["user", "Yes, bye"],
    ];
    expect(await user(wrong)).toMatchObject({ pass: true });
  });
});
