import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { createQuery, GOOD, RENEWAL, sceneOf } from "../../../test/support/scoring-desk.ts";
import { type ModelClient, type ModelRequest, NO_USAGE, RolloutError } from "../../core/index.ts";
import { createJudge, type Judge } from "../judge/judge.ts";
import { createScriptedJudge } from "../judge/scripted-judge.ts";
import { openVoteStore } from "../judge/vote-store.ts";
import { answerCheck, judgedAnswerCheck } from "./answer.ts";
import { assertionsCheck } from "./assertions.ts";
import { qualityCheck } from "./quality.ts";
import { judgedUserCheck } from "./user.ts";

type Line = object | string | Error;

function judgeSaying(
  lines: Line[],
  votes = 1,
  folder = temporaryFolder(),
): Judge & { requests: ModelRequest[]; folder: string } {
  const requests: ModelRequest[] = [];
  const client: ModelClient = {
    id: "test/judge",
    complete: async (request) => {
      const line = lines[requests.length];
      requests.push(request);
      if (line === undefined) throw new Error("the judge has no further line");
      if (line instanceof Error) throw line;
      const content = typeof line === "string" ? line : JSON.stringify(line);
      return { content, toolCalls: [], usage: NO_USAGE, finish: "stop" };
    },
  };
  const store = openVoteStore(join(folder, "judgements.jsonl"));
  onTestFinished(() => store.close());
  return { ...createJudge(client, votes, store), requests, folder };
}

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "rollout-judge-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

const asserted = createQuery(RENEWAL, { assertions: ["The agent asks for the card.", "The loan L1 is renewed."] });
const met = (...values: boolean[]) => ({
  results: values.map((value, index) => ({ number: index + 1, met: value, reason: "r" })),
});

describe("assertions", () => {
  test("each is asked about, and the unmet ones are named", async () => {
    const judge = judgeSaying([met(true, false)]);
    const result = await assertionsCheck.run(await sceneOf(GOOD, { query: asserted, judge }));
    expect(result).toMatchObject({ pass: false, score: 0.5, blame: "agent" });
    expect(result.reason).toContain("The loan L1 is renewed.");
    expect(judge.requests[0]?.messages[0]?.content).toContain("1. The agent asks for the card.");
  });

  test("all votes are kept and the majority counts", async () => {
    const judge = judgeSaying([met(true, true), met(false, true), met(true, true)], 3);
    const result = await assertionsCheck.run(await sceneOf(GOOD, { query: asserted, judge }));
    expect(result).toMatchObject({ pass: true, score: (1 + 0.5 + 1) / 3 });
    expect((result.details as { votes: unknown[] }).votes).toHaveLength(3);
  });

  test("a query without any is not checkable", async () => {
    expect(await assertionsCheck.run(await sceneOf(GOOD, { judge: judgeSaying([]) }))).toMatchObject({ pass: null });
  });
});

describe("a judge that fails", () => {
  test("is asked once more for an answer that can be read, and otherwise takes the blame", async () => {
    const mended = judgeSaying(["Well, I think…", { score: 5, reason: "fine" }]);
    expect(await qualityCheck().run(await sceneOf(GOOD, { judge: mended }))).toMatchObject({ pass: true, score: 1 });
    expect(mended.requests).toHaveLength(2);
    const stubborn = judgeSaying(["Well…", { score: 9, reason: "great" }]);
    const result = await qualityCheck().run(await sceneOf(GOOD, { judge: stubborn }));
    expect(result).toMatchObject({
      pass: null,
      score: null,
      blame: "judge",
      reason: expect.stringContaining("unreadable"),
    });
  });

  test("through its endpoint is not held against the agent, and its other votes count", async () => {
    const down = new RolloutError("infrastructure", "503");
    const judge = judgeSaying([down, { score: 5, reason: "a" }, down], 3);
    const result = await qualityCheck().run(await sceneOf(GOOD, { judge }));
    expect(result).toMatchObject({
      pass: true,
      details: { votes: [{ error: "503" }, { pass: true }, { error: "503" }] },
    });
    const none = await qualityCheck().run(await sceneOf(GOOD, { judge: judgeSaying([down]) }));
    expect(none).toMatchObject({ pass: null, blame: "judge" });
  });

  test("that is not there makes the check not checkable", async () => {
    expect(await qualityCheck().run(await sceneOf(GOOD))).toMatchObject({
      pass: null,
      reason: expect.stringContaining("--judge-model"),
    });
  });
});

test("an answer in a code fence is read; one inside prose is not", async () => {
  const fenced = judgeSaying(['```json\n{"score": 4, "reason": "good"}\n```']);
  expect(await qualityCheck().run(await sceneOf(GOOD, { judge: fenced }))).toMatchObject({ pass: true, score: 0.75 });
  expect(
    await qualityCheck(5).run(await sceneOf(GOOD, { judge: judgeSaying([{ score: 4, reason: "" }]) })),
  ).toMatchObject({ pass: false });
  const prose = judgeSaying(['I say {"score": 4, "reason": "good"}', 'Still {"score": 4, "reason": ""}']);
  expect(await qualityCheck().run(await sceneOf(GOOD, { judge: prose }))).toMatchObject({ pass: null });
});

test("votes are kept by content: the same question is never paid for twice, another one is asked", async () => {
  const folder = temporaryFolder();
  const first = judgeSaying(
    [
      { score: 5, reason: "a" },
      { score: 4, reason: "b" },
    ],
    2,
    folder,
  );
  const before = await qualityCheck().run(await sceneOf(GOOD, { judge: first }));
  const second = judgeSaying(
    [
      { score: 1, reason: "other" },
      { score: 1, reason: "other" },
    ],
    2,
    folder,
  );
  expect(await qualityCheck().run(await sceneOf(GOOD, { judge: second }))).toEqual(before);
  expect(second.requests).toHaveLength(0);
  expect(await qualityCheck().run(await sceneOf(GOOD.slice(1), { judge: second }))).toMatchObject({ pass: false });
  expect(readFileSync(join(folder, "judgements.jsonl"), "utf8").trim().split("\n")).toHaveLength(4);
});

test("the user is judged by rules first, and by the judge where they find nothing", async () => {
  const judge = judgeSaying([{ pass: false, reason: "it left too early" }]);
  expect(await judgedUserCheck.run(await sceneOf(GOOD, { judge }))).toMatchObject({ pass: false, blame: "user" });
  const invented = await sceneOf([["user", "My card is C999"], { call: "authorize", with: { card: "C999" } }], {
    judge: judgeSaying([]),
  });
  expect(await judgedUserCheck.run(invented)).toMatchObject({ pass: false, reason: expect.stringContaining("C999") });
});

test("the scripted judge answers every kind of question by plain rules", async () => {
  const store = openVoteStore(join(temporaryFolder(), "judgements.jsonl"));
  onTestFinished(() => store.close());
  const judge = createJudge(createScriptedJudge(), 1, store);
  const query = createQuery(RENEWAL, { assertions: ["The fee 11800 is told.", "Card C100 is used."] });
  const context = await sceneOf(GOOD, { query, judge });
  expect(await assertionsCheck.run(context)).toMatchObject({ pass: false, score: 0.5 });
  expect(await qualityCheck().run(context)).toMatchObject({ pass: true });
  expect(await judgedUserCheck.run(context)).toMatchObject({ pass: true });
});

describe("answer", () => {
  const scene = (answer: string, judge?: Judge) =>
    sceneOf([["agent", answer]], { query: createQuery(undefined, { answer: "Paris" }), ...(judge ? { judge } : {}) });

  test("passes, fails, or cannot be checked", async () => {
    expect(answerCheck.run(await scene("Paris"))).toMatchObject({ pass: true });
    expect(answerCheck.run(await scene("Rome"))).toMatchObject({ pass: false, blame: "agent" });
    expect(answerCheck.run(await sceneOf(GOOD, { query: createQuery(undefined) }))).toMatchObject({ pass: null });
  });

  test("a judge is asked only where the rules find no match", async () => {
    const judge = judgeSaying([{ pass: true, reason: "the same city" }]);
    expect(await judgedAnswerCheck.run(await scene("Paris", judge))).toMatchObject({
      pass: true,
      reason: "exact match",
    });
    expect(judge.requests).toHaveLength(0);
    expect(await judgedAnswerCheck.run(await scene("The capital of France", judge))).toMatchObject({
      pass: true,
      matched: false,
      reason: "the same city",
      details: { expected: "Paris", prediction: "The capital of France", judge: "test/judge" },
    });
  });

  test("what matching alone says is kept beside the judge's verdict, also if the judge fails", async () => {
    const votes = judgeSaying(
      [
        { pass: true, reason: "a" },
        { pass: false, reason: "b" },
        { pass: false, reason: "c" },
      ],
      3,
    );
    expect(await judgedAnswerCheck.run(await scene("Lutetia", votes))).toMatchObject({ pass: false, matched: false });
    const broken = judgeSaying(["…", "…"]);
    expect(await judgedAnswerCheck.run(await scene("Lutetia", broken))).toMatchObject({ pass: null, matched: false });
    expect(await judgedAnswerCheck.run(await scene("Paris", judgeSaying([])))).toMatchObject({
      pass: true,
      matched: true,
    });
    expect(answerCheck.run(await scene("Paris"))).not.toHaveProperty("matched");
  });

  test("the judge is shown every accepted answer", async () => {
    const judge = judgeSaying([{ pass: true, reason: "" }]);
    const query = createQuery(undefined, { answers: ["NYC", "New York City"] });
    const context = await sceneOf([["agent", "the Big Apple"]], { query, judge });
    expect(await judgedAnswerCheck.run(context)).toMatchObject({ pass: true, matched: false });
    expect(judge.requests[0]?.messages[0]?.content).toContain('each of them right\n\n- "NYC"\n- "New York City"\n');
  });

  test("without a mark in the run's format there is no answer, and nobody is asked", async () => {
    const query = createQuery(undefined, { answer: "Paris" });
    const judge = judgeSaying([]);
    const context = { ...(await sceneOf([["agent", "It is Paris."]], { query, judge })), answerFormat: "boxed" };
    expect(await judgedAnswerCheck.run(context)).toMatchObject({ pass: false, reason: "no answer was marked" });
    const marked = await sceneOf([["agent", "It is \\boxed{Paris}."]], { query, judge });
    expect(await judgedAnswerCheck.run({ ...marked, answerFormat: "boxed" })).toMatchObject({ pass: true });
  });

  test("the scripted judge passes an answer in which the known one occurs", async () => {
    const store = openVoteStore(join(temporaryFolder(), "judgements.jsonl"));
    onTestFinished(() => store.close());
    const judge = createJudge(createScriptedJudge(), 1, store);
    expect(await judgedAnswerCheck.run(await scene("Probably Paris", judge))).toMatchObject({
      pass: true,
      matched: false,
    });
    expect(await judgedAnswerCheck.run(await scene("Rome", judge))).toMatchObject({ pass: false, matched: false });
  });
});
