import { expect, test } from "vitest";
import { calls, line, result, says, user, writeRun } from "../../../test/support/export-records.ts";
import { collectStats } from "./collect-stats.ts";

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
    line("q2", { messages: [user("Is this the desk?"), says("Yes?")] }),
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
    datasets: { Desk: 3 },
    by_dataset: { Desk: { records: 3, scored: 1, solved: 0, solved_rate: 0, interval: undefined } },
    languages: { other: 2, en: 1 },
    calls: { min: 0, median: 2, max: 2 },
    messages: { max: 5 },
    tools_offered: { min: 2, max: 2 },
    near_duplicates: { records: 1, groups: 1, largest_group: 2, examples: [{ ids: ["q1", "q1#1"], similarity: 1 }] },
    never_used: ["renew_loan"],
    never_given: [],
    unknown_tools: {},
    tools: { find_book: { calls: 4, malformed: 2, offered: 3, arguments: { id: 2 }, errors: { count: 0, of: 4 } } },
  });
  expect(stats.tokens?.min).toBeGreaterThan(50);
});

test("an empty run has counts and no lengths", async () => {
  expect(await collectStats({ inputs: [writeRun([])] })).toMatchObject({
    records: 0,
    tokens: undefined,
    chains: undefined,
    tool_errors: { count: 0, of: 0, share: undefined },
    never_used: [],
    histograms: { turns: {} },
  });
});

test("turns, steps and parallel calls: a last word of the user is no turn, a greeting is a step of none", async () => {
  const messages = [
    says("Welcome!"),
    user("Two things."),
    calls(["a", "find_book", '{"id":1}'], ["b", "find_book", '{"id":2}']),
    result("a", "1"),
    result("b", "2"),
    calls(["c", "renew_loan", '{"id":1}']),
    result("c", "ok"),
    says("Done."),
    user("Great."),
    says("Bye."),
    user("Thanks!"),
  ];
  const lines = [line("q1", { messages }), line("q2", { messages: [user("Hi"), says("Hello?")] })].map((entry) => ({
    ...entry,
    metadata: { ...entry.metadata, total_turns: undefined },
  }));
  expect(await collectStats({ inputs: [writeRun(lines)] })).toMatchObject({
    turns: { min: 1, max: 2 },
    steps: { min: 1, max: 5 },
    multi_step_turns: { count: 1, of: 3, share: 1 / 3 },
    parallel_steps: { count: 1, of: 6, share: 1 / 6 },
    parallel_records: { count: 1, of: 2, share: 1 / 2 },
    histograms: { turns: { 1: 1, 2: 1 }, steps: { 1: 1, 5: 1 }, calls: { 0: 1, 3: 1 } },
  });
});

test("a number of turns that cannot be is not believed", async () => {
  const odd = [1e12, -1, "<b>", null].map((total_turns, index) => line(`q${index}`, { metadata: { total_turns } }));
  expect((await collectStats({ inputs: [writeRun(odd)] })).histograms.turns).toEqual({ 2: 4 });
});

test("errors by tool; a call without a result is none", async () => {
  const messages = [
    user("Renew them."),
    calls(["a", "renew_loan", '{"id":1}'], ["b", "renew_loan", '{"id":2}'], ["c", "find_book", '{"id":3}']),
    result("a", '{"error":"none"}'),
    result("b", '{"success":true}'),
    result("c", "Emma"),
    // ids that are used again, as some systems do
    calls(["a", "find_book", '{"id":4}'], ["z", "find_book", '{"id":5}']),
    result("a", "Persuasion"),
  ];
  const stats = await collectStats({ inputs: [writeRun([line("q1", { messages })])] });
  expect(stats.tool_errors).toEqual({ count: 1, of: 4, share: 0.25 });
  expect(stats.tools.renew_loan?.errors).toEqual({ count: 1, of: 2, share: 0.5 });
  expect(stats.tools.find_book).toMatchObject({ calls: 3, errors: { count: 0, of: 2, share: 0 } });
});

test("names that no record offers are apart, unless the tools of a record that calls them are unknown", async () => {
  const asks = (name: string) => [user("Hi"), calls(["a", name, "{}"]), result("a", `Unknown tool ${name}`)];
  const lines = [
    line("q1", { messages: asks("find_bok") }),
    line("q2", { messages: asks("find_bok") }),
    line("q3", { messages: asks("play_chess") }),
    line("q4", { messages: asks("from_elsewhere"), metadata: { tools_hash: "lost" } }),
  ];
  const stats = await collectStats({ inputs: [writeRun(lines)] });
  expect(stats.unknown_tools).toEqual({
    find_bok: { calls: 2, nearest: "find_book" },
    play_chess: { calls: 1, nearest: undefined },
  });
  expect(Object.keys(stats.tools)).toEqual(["from_elsewhere", "find_book", "renew_loan"]);
  expect(stats.tool_errors).toEqual({ count: 4, of: 4, share: 1 });
  expect(stats.tools_offered).toMatchObject({ min: 2, max: 2 });
});

test("tokens by kind add up, and what is the agent's is trainable", async () => {
  const { tokens, tokens_by_kind: kinds } = await collectStats({ inputs: [writeRun([line("q1"), line("q2")])] });
  const { trainable, ...others } = kinds;
  const total = Object.values(others).reduce((sum, kind) => sum + kind.total, 0);
  expect(trainable.total).toBe(kinds.agent_text.total + kinds.agent_reasoning.total + kinds.agent_calls.total);
  expect(kinds.user.spread?.max).toBe(6 + 5 + 2);
  // ten messages and a system prompt, four tokens around each
  expect(2 * (tokens?.mean as number)).toBe(total + 2 * 4 * 11);
});

test("solved by dataset, with an interval over queries", async () => {
  const scored = (id: string, dataset: string, score: number) => line(id, { dataset, score });
  const lines = [scored("q1", "A", 1), scored("q1#1", "A", 0), scored("q2", "A", 1), line("q3", { dataset: "A" })];
  const { by_dataset } = await collectStats({ inputs: [writeRun([...lines, scored("q1", "B", 0.5)])] });
  expect(by_dataset).toMatchObject({
    A: { records: 4, scored: 3, solved: 2, solved_rate: 2 / 3 },
    B: { records: 1, scored: 1, solved: 0, interval: undefined },
  });
  expect(by_dataset.A?.interval?.low).toBeLessThan(2 / 3);
  expect(by_dataset.A?.interval?.high).toBeGreaterThan(2 / 3);
});
