import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { createRandom, type DatasetCounts, NO_USAGE, type RunEvent } from "../core/index.ts";
import { readRun } from "./read-run.ts";
import { RunFolder } from "./run-folder.ts";
import { RunTally } from "./tally.ts";

const folder = mkdtempSync(join(tmpdir(), "rollout-test-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const START = Date.UTC(2026, 0, 1);
const at = (second: number) => new Date(START + second * 1000).toISOString();
const key = (queryId: string) => ({ dataset: "Clinic", queryId, rollout: 0 });

function begin(plan: Partial<DatasetCounts>, second = 0): RunEvent {
  const whole = { name: "Clinic", planned: 10, kept: 0, continuing: 0, retrying: 0, givenUp: 0, ...plan };
  return { type: "run-start", at: at(second), folder, programVersion: "1", datasets: [whole] };
}

const start = (queryId: string, second: number): RunEvent => ({
  ...{ type: "rollout-start", ...key(queryId), at: at(second), attempt: 1, fingerprint: "f", continued: 0 },
});

const entry = (queryId: string, costUsd: number): RunEvent => ({
  ...{ type: "entry-end", ...key(queryId), index: 0 },
  entry: {
    ...{ type: "reply", by: "agent", content: '"usage":{', toolCalls: [], finish: "stop", at: at(1) },
    usage: { ...NO_USAGE, inputTokens: 90, outputTokens: 10, costUsd },
  },
});

const end = (queryId: string, second: number, message?: string): RunEvent => ({
  ...{ type: "rollout-end", ...key(queryId), at: at(second), attempt: 1, fingerprint: "f", turns: 1, toolCalls: 0 },
  outcome: message
    ? { success: false, stopReason: "infrastructure", blame: "infrastructure", message, kind: "server" }
    : { success: true, stopReason: "user_stop" },
  usage: NO_USAGE,
  durationMs: 1000,
});

const SESSION: RunEvent[] = [
  begin({ kept: 2, givenUp: 1 }),
  ...[start("a", 0), entry("a", 0.5), end("a", 10)],
  ...[start("b", 2), end("b", 11, "http://x answered 503 (6 attempts)")],
  ...[start("c", 4), entry("c", 0.25)],
  start("d", 6),
];

function tallied(events: RunEvent[]): RunTally {
  const tally = new RunTally();
  for (const event of events) tally.add(event);
  return tally;
}

test("a run's events add up to what is done, running, waiting and failed, and to what is left", () => {
  expect(tallied(SESSION).totals(START + 20_000)).toEqual({
    planned: 10,
    done: 3,
    running: 2,
    waiting: 3,
    failed: 2,
    finished: 1,
    perSecond: 0.05,
    secondsElapsed: 20,
    secondsLeft: undefined,
    toolCalls: 0,
    tokens: 200,
    scriptedTokens: 0,
    costUsd: 0.75,
    projectedCostUsd: 4.5,
    errors: { server: 1 },
    failures: [{ reason: "http://x answered 503 (6 attempts)", kind: "server", count: 1 }],
    slowest: [
      { id: "c", dataset: "Clinic", seconds: 16 },
      { id: "d", dataset: "Clinic", seconds: 14 },
    ],
  });
});

test("a rollout that starts over runs once", () => {
  const tally = tallied([begin({}), start("a", 1), start("a", 5)]);
  expect(tally.totals(START + 6000)).toMatchObject({ running: 1, slowest: [{ id: "a", seconds: 1 }] });
});

test("the rate is that of the last minutes", () => {
  const early = Array.from({ length: 100 }, (_, n) => end(`early${n}`, n / 10));
  const late = Array.from({ length: 10 }, (_, n) => end(`late${n}`, 1000 + n * 30));
  const { perSecond } = tallied([begin({ planned: 200 }), ...early, ...late]).totals(START + 1300_000);
  expect(perSecond).toBeCloseTo(9 / 300);
});

test("a session that goes on has its own rate and errors, and the money of all", () => {
  const tally = tallied([...SESSION, begin({ kept: 3 }, 100), start("c", 101)]);
  expect(tally.totals(START + 102_000)).toMatchObject({ done: 3, finished: 0, running: 1, errors: {}, costUsd: 0.75 });
});

test("read back from the journal, the numbers are the same", async () => {
  const run = new RunFolder({ path: folder, sync: "never", checkpoints: true });
  run.writeManifest({
    ...{ format_version: 1, program_version: "1", node_version: "v20", created_at: at(0), updated_at: at(0) },
    ...{ seed: 0, config: {}, datasets: {} },
  });
  for (const event of SESSION) await run.record(event);
  const now = START + 20_000;
  const read = readRun(folder);
  expect(read.writer?.pid).toBe(process.pid);
  expect(read.tally.totals(now)).toEqual(tallied(SESSION).totals(now));
  await run.close();
  expect(readRun(folder).tally.totals(now)).toMatchObject({ done: 3, running: 0, waiting: 5, secondsLeft: undefined });
});

/** Plays a whole run of rollouts with long and short durations, and looks at the time left a hundred times. */
function watchTimeLeft({ planned, workers, seed }: { planned: number; workers: number; seed: number }) {
  const random = createRandom("time left", seed);
  const free = Array.from({ length: workers }, () => 0);
  const events = Array.from({ length: planned }, (_, n) => {
    const since = Math.min(...free);
    // the sum of three: mostly 20 to 60 seconds, a few as short as 10 or as long as 110
    const until = since + 10 + 100 * (random.next() * random.next() * 0.6 + random.next() * 0.4);
    free[free.indexOf(since)] = until;
    return [
      { second: since, event: start(`q${n}`, since) },
      { second: until, event: end(`q${n}`, until) },
    ];
  })
    .flat()
    .sort((a, b) => a.second - b.second);
  const whole = Math.max(...free);
  const tally = tallied([begin({ planned })]);
  return Array.from({ length: 99 }, (_, n) => {
    const now = ((n + 1) / 100) * whole;
    while (events[0] && events[0].second <= now) tally.add((events.shift() as (typeof events)[0]).event);
    return { told: tally.totals(START + now * 1000).secondsLeft, left: whole - now };
  });
}

test("the time left is told once it is known within a factor of two, and then does not jump", () => {
  const runs = [1, 2, 3, 4, 5, 6, 7, 8].flatMap((seed) => [
    watchTimeLeft({ planned: 40, workers: 4, seed }),
    watchTimeLeft({ planned: 200, workers: 32, seed }),
    watchTimeLeft({ planned: 400, workers: 16, seed }),
    watchTimeLeft({ planned: 20, workers: 20, seed }),
  ]);
  const looks = runs.flat();
  const told = looks.flatMap(({ told, left }) => (told === undefined ? [] : [{ told, left }]));
  expect(told.length).toBeGreaterThan(looks.length / 3);
  const isNear = (a: number, b: number) => a <= 2 * b && b <= 2 * a;
  expect(told.filter(({ told, left }) => !isNear(told, left))).toEqual([]);
  for (const run of runs)
    for (const [n, { told: before }] of run.entries()) {
      const after = run[n + 1]?.told;
      if (before !== undefined && after !== undefined) expect(isNear(before, after)).toBe(true);
    }
});
