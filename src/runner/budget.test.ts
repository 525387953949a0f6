import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { networkRun, notes, play, serveScripted } from "../../test/support/network-run.ts";
import { temporaryFolder } from "../../test/support/play.ts";

const PRICES = { input_cost_per_token: 1e-6, output_cost_per_token: 4e-6 };

test("what a rollout costs is told in all and for each party", async () => {
  const server = await serveScripted();
  const { records } = await play(networkRun(server.url, { entry: PRICES }));
  expect(records).toHaveLength(3);
  for (const { metadata } of records) {
    const { agent, user } = metadata.usage;
    expect(agent?.cost_usd).toBeCloseTo((agent?.input_tokens ?? 0) * 1e-6 + (agent?.output_tokens ?? 0) * 4e-6, 12);
    expect(user?.cost_usd).toBeGreaterThan(0);
    expect(metadata.cost_usd).toBeCloseTo((agent?.cost_usd ?? 0) + (user?.cost_usd ?? 0), 12);
    expect(metadata.faults.filter((fault) => fault.type === "truncated_input")).toEqual([]);
  }
});

test.each([
  ["dollars", { max_cost: 0.02 }, { max_cost: 100 }],
  ["tokens", { max_tokens_total: 20_000 }, { max_tokens_total: 100_000_000 }],
])("a run stops when its budget in %s is spent, and goes on under a larger one", async (_, small, large) => {
  const server = await serveScripted();
  const folder = join(temporaryFolder(), "run");
  const scene = { entry: PRICES, config: { limit: 6, max_workers: 1 }, folder };
  const stopped = await play(networkRun(server.url, { ...scene, patch: small }));
  expect(stopped.result.stoppedBy).toBe("budget");
  expect(stopped.result.left).toBeGreaterThan(0);
  expect(stopped.records.length).toBe(stopped.result.finished);
  const asked = server.requests().asked;

  const refused = await play(networkRun(server.url, { ...scene, patch: small }));
  expect(refused.result).toMatchObject({ stoppedBy: "budget", finished: 0, left: stopped.result.left });

  const whole = await play(networkRun(server.url, { ...scene, patch: large }));
  expect(whole.result).toMatchObject({ finished: stopped.result.left, left: 0, failed: 0 });
  expect(whole.result.stoppedBy).toBeUndefined();
  expect(new Set(whole.records.map(({ id }) => id)).size).toBe(6);
  // no call was paid for twice, including the rollout that was running
  const calls = whole.records.flatMap(({ metadata }) => Object.values(metadata.usage).map((usage) => usage.calls));
  expect(server.requests().asked).toBe(calls.reduce((sum, each) => sum + each, 0));
  expect(server.requests().asked).toBeGreaterThan(asked);
});

test.each([
  ["token_budget", { max_rollout_tokens: 3000 }],
  ["cost_budget", { max_rollout_cost: 0.003 }],
])("a rollout beyond its own budget ends as %s and is kept", async (reason, config) => {
  const server = await serveScripted();
  const { result, records } = await play(networkRun(server.url, { entry: PRICES, config }));
  expect(result).toMatchObject({ finished: 3, failed: 0, left: 0 });
  expect(records.map(({ success, metadata }) => [success, metadata.stop_reason])).toEqual(
    records.map(() => [false, reason]),
  );
});

test("a budget in dollars without prices is warned about in one line", async () => {
  const server = await serveScripted();
  const blind = await play(networkRun(server.url, { config: { max_cost: 5, limit: 1 } }));
  expect(notes(blind.events)).toEqual([
    expect.stringMatching(/^The price of openai\/scripted-agent and openai\/scripted-user is not known/),
  ]);
  const seeing = await play(networkRun(server.url, { entry: PRICES, config: { max_cost: 5, limit: 1 } }));
  expect(notes(seeing.events)).toEqual([]);
});

test("a context that hardly holds a dialogue is warned about in one line, a large one is not", async () => {
  const server = await serveScripted();
  const tight = await play(networkRun(server.url, { entry: { max_tokens: 4000 }, config: { limit: 1 } }));
  expect(notes(tight.events)).toEqual([
    expect.stringMatching(
      /^StudentAcademicPortal: system prompt and tools take about \d+ tokens, .* has a context of 4000/,
    ),
  ]);
  const wide = await play(networkRun(server.url, { entry: { max_tokens: 32_000 }, config: { limit: 1 } }));
  expect(notes(wide.events)).toEqual([]);
});

test("cassettes and journals hold costs, so a replayed run tells the same sum", async () => {
  const server = await serveScripted();
  const folder = temporaryFolder();
  const recorded = await play(networkRun(server.url, { entry: PRICES, patch: { record: folder } }));
  const replayed = await play(networkRun(server.url, { entry: PRICES, patch: { replay: folder } }));
  const cost = (run: typeof recorded) => run.records.map(({ metadata }) => metadata.cost_usd).sort();
  expect(cost(replayed)).toEqual(cost(recorded));
  expect(readFileSync(join(replayed.result.folder, "journal.jsonl"), "utf8")).toContain('"costUsd":');
});
