// Every hand-judged dialogue gets the verdict, the blame and the deciding checks of its judgement.
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { type PlayedCase, playCases, readCorpus, verdictOf } from "./support/corpus.ts";

const corpus = readCorpus();
const played = await playCases(corpus);

test("every case is played, in every bundled domain and combination, right and wrong", () => {
  expect(played.length).toBe(corpus.length);
  expect(new Set(corpus.map(({ id }) => id)).size).toBe(corpus.length);
  for (const domain of new Set(corpus.map((one) => one.domain)))
    for (const verdict of ["pass", "fail"] as const)
      expect(corpus.filter((one) => one.domain === domain && one.verdict === verdict).length).toBeGreaterThan(10);
});

test("what is written down is what was said: no line was asked for again, no reference left unfilled", () => {
  for (const { judged, trajectory } of played) {
    const users = judged.dialogue.filter((line) => "user" in line).length;
    const messages = trajectory.messages.filter(({ role }) => role === "user").length;
    expect([judged.id, messages]).toEqual([judged.id, users + 1]);
    expect(JSON.stringify(trajectory.messages)).not.toContain("{{");
  }
});

test.each(played.map((one) => [one.judged.id, one] as [string, PlayedCase]))("%s", (_id, { judged, score }) => {
  expect({ verdict: verdictOf(score), blame: score.blame, decided_by: score.decided_by }, judged.why).toEqual({
    verdict: judged.verdict,
    blame: judged.blame,
    decided_by: judged.decided_by ?? [],
  });
});

test.each(["docs/evaluation.md", "docs/zh/evaluation.md"])("the table in %s counts these cases", (page) => {
  const text = readFileSync(page, "utf8");
  for (const verdict of ["pass", "fail", "unscored"] as const) {
    const count = corpus.filter((one) => one.verdict === verdict).length;
    expect(text).toContain(`${count} of ${count}`);
  }
});
