import { expect, test } from "vitest";
import { calls, line, result, says, user, writeRun } from "../../test/support/export-records.ts";
import { collectStats } from "./stats.ts";

test("counts, lengths, tools used and never used, arguments, duplicates", async () => {
  const messages = [
    user("Hi"),
    calls(["a", "find_book", '{"id":1}'], ["b", "find_book", "{"]),
    result("a", "1"),
    result("b", "2"),
    says("Done."),
  ];
  const lines = [
    line("q1", { messages }),
    line("q1#1", { messages, success: false }),
    line("q2", { messages: [user("Ho"), says("Yes?")] }),
  ];
  const scores = [{ id: "q1", dataset: "Desk", query_id: "q1", rollout: 0, check: "state", pass: false, score: 0.5 }];
  const stats = await collectStats({ inputs: [writeRun([...lines, { id: "no" }], { "scores.jsonl": scores })] });
  expect(stats).toMatchObject({
    records: 3,
    queries: 2,
    success: 2,
    duplicates: 1,
    scored: 1,
    solved: 0,
    mean_score: 0.5,
    unreadable: { "the line has no messages": 1 },
    stop_reasons: { user_stop: 3 },
    models: { "lab/agent": 3 },
    calls: { min: 0, median: 2, max: 2 },
    messages: { max: 5 },
    never_used: ["renew_loan"],
    never_given: [],
    tools: { find_book: { calls: 4, malformed: 2, offered: 3, arguments: { id: 2 } } },
  });
  expect(stats.tokens?.min).toBeGreaterThan(50);
});

test("an empty run has counts and no lengths", async () => {
  expect(await collectStats({ inputs: [writeRun([])] })).toMatchObject({
    records: 0,
    tokens: undefined,
    never_used: [],
  });
});
