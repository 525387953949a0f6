import { expect, test } from "vitest";
import { type DatasetCounts, NO_USAGE, type RunEvent } from "../../core/index.ts";
import { RunTally } from "../../runs/index.ts";
import { createProgress } from "./progress.ts";
import { displayWidth, type Terminal } from "./terminal.ts";
import { totalsBlock } from "./totals-text.ts";
import { createVerboseView } from "./verbose-view.ts";

function screen({ interactive = false, columns = 80, rows = 24 } = {}) {
  const written: string[] = [];
  const terminal: Terminal = {
    ...{ interactive, columns: () => columns, rows: () => rows, paint: (_, text) => text },
    out: (text) => void written.push(`${text}\n`),
    redraw: (up, lines) =>
      void written.push(
        `${up > 0 ? `\u001b[${up}A\r` : ""}${lines.map((line) => `${line}\u001b[K\n`).join("")}\u001b[J`,
      ),
    err: (text) => void written.push(`(err) ${text}\n`),
  };
  return { terminal, written };
}

const at = "2026-01-01T00:00:00.000Z";
const now = () => 1000;
const key = (queryId: string, dataset = "Clinic") => ({ dataset, queryId, rollout: 0 });
const plan = (name: string, more: Partial<DatasetCounts> = {}): DatasetCounts => ({
  ...{ name, planned: 4, kept: 0, continuing: 0, retrying: 0, givenUp: 0, ...more },
});
const begin = (...datasets: DatasetCounts[]): RunEvent => ({
  ...{ type: "run-start", at, folder: "", programVersion: "1", datasets },
});
const started = (queryId: string): RunEvent => ({
  ...{ type: "rollout-start", ...key(queryId), at, attempt: 1, fingerprint: "f", continued: 0 },
});
const opened = (queryId: string, content: string): RunEvent => ({
  ...(started(queryId) as Extract<RunEvent, { type: "rollout-start" }>),
  opening: [{ role: "user", content }],
});
const said = (queryId: string, content: string): RunEvent => ({
  ...{ type: "entry-end", ...key(queryId), index: 0 },
  entry: { type: "reply", by: "agent", content, toolCalls: [], finish: "stop", at, usage: NO_USAGE },
});
const ended = (queryId: string): RunEvent => ({
  ...{ type: "rollout-end", ...key(queryId), at, attempt: 1, fingerprint: "f", turns: 1, toolCalls: 0 },
  ...{ outcome: { success: true, stopReason: "user_stop" }, usage: NO_USAGE, durationMs: 5 },
});

test("a run that goes on says in one line what it found", () => {
  const { terminal, written } = screen();
  const view = createProgress(terminal, { now });
  view.onEvent(begin(plan("A", { kept: 2, continuing: 1 }), plan("B", { retrying: 1, givenUp: 2 })));
  expect(written[0]).toBe("Kept 2, continuing 1, starting 2, trying again 1, leaving 2 that failed\n");
  view.stop();
});

test("the block is drawn over in place, and notes stand above it", () => {
  const { terminal, written } = screen({ interactive: true });
  const view = createProgress(terminal, { now });
  view.onEvent(begin(plan("Clinic")));
  view.onEvent({ type: "run-note", at, message: "No space left" });
  view.say("Stopping");
  view.stop();
  expect(written[0]).toBe(
    "Clinic  ────────────────────────  0/4\u001b[K\n0/4 done · 0 running · 4 waiting · 0 failed · 0.0/s · 0 ms elapsed · 0 tokens\u001b[K\n\u001b[J",
  );
  expect(written.slice(1, 4)).toEqual(["\u001b[2A\r\u001b[J", "No space left\n", "(err) Stopping\n"]);
  expect(written[4]).toBe(written[0]);
  expect(written).toHaveLength(5);
});

test("the block fits the terminal, whatever the names and however many datasets", () => {
  const { terminal, written } = screen({ interactive: true, columns: 60, rows: 12 });
  const view = createProgress(terminal, { now });
  view.onEvent(begin(...Array.from({ length: 40 }, (_, n) => plan(`域${"长".repeat(60)}${n}`))));
  view.stop();
  const lines = (written[0] as string).split("\n").map((line) => line.replaceAll("\u001b[K", ""));
  expect(lines.length).toBeLessThanOrEqual(12);
  for (const line of lines.slice(0, -1)) expect(displayWidth(line)).toBeLessThan(60);
  expect(written[0]).toContain("more datasets");
});

test("endpoints, retries, errors and the slowest rollouts have a line each", () => {
  const tally = new RunTally();
  const failed: RunEvent = {
    ...(ended("a") as Extract<RunEvent, { type: "rollout-end" }>),
    outcome: { success: false, stopReason: "infrastructure", message: "http://x answered 500", kind: "server" },
  };
  for (const event of [begin(plan("Clinic")), started("a"), failed, started("b")]) tally.add(event);
  const lines = totalsBlock(screen().terminal, tally, {
    now: Date.parse(at) + 60_000,
    load: {
      endpoints: [{ endpoint: "http://x", inFlight: 3, waiting: 9 }],
      retries: { server: 2, "rate-limit": 5 },
      backingOff: { "rate-limit": 1 },
      now: 70_000,
      calls: [{ ...{ dataset: "Clinic", id: "b", party: "agent", model: "vllm/m" }, since: 5000 }],
    },
    waits: ["http://x: waiting 12 s (429)"],
    rows: 20,
  });
  expect(lines.slice(2)).toEqual([
    "http://x: 3 in flight, 9 waiting",
    "waiting to be tried again: 1 × rate-limit",
    "http://x: waiting 12 s (429)",
    "tried again: 5 × rate-limit, 2 × server",
    "failed:",
    "  1 × http://x answered 500",
    "      The server's own log says more; try them again once it works.",
    "slowest: b 60 s",
    "slow: b of Clinic: agent vllm/m, 65 s",
  ]);
});

test("verbose follows one rollout as it comes and prints the others whole", () => {
  const { terminal, written } = screen({ interactive: true });
  const view = createVerboseView(terminal, { maxLength: 100, nameDataset: false, now });
  for (const event of [
    begin(plan("Clinic")),
    ...[started("a"), started("b"), started("c"), said("a", "one of a"), said("b", "one of b"), said("c", "one of c")],
    ...[said("b", "two of b"), said("a", "two of a"), ended("b"), said("a", "three of a"), ended("a")],
    ...[said("c", "two of c"), ended("c")],
  ])
    view.onEvent(event);
  view.stop();
  const shown = written.join("").replace(/^ +agent {2}/gm, "");
  const end = "         user_stop, 1 turns, 0 tool calls, 5 ms\n";
  expect(shown).toBe(
    `── a\none of a\ntwo of a\n── b\none of b\ntwo of b\n${end}── a\nthree of a\n${end}── c\none of c\ntwo of c\n${end}`,
  );
});

test("verbose begins each dialogue with its opening message, once, even if it starts over", () => {
  const { terminal, written } = screen({ interactive: true });
  const view = createVerboseView(terminal, { maxLength: 100, nameDataset: false, now });
  for (const event of [opened("a", "Hello from a"), opened("b", "Hello from b"), said("a", "one of a")])
    view.onEvent(event);
  for (const event of [opened("a", "Hello from a"), said("a", "one of a"), ended("a"), said("b", "one of b")])
    view.onEvent(event);
  view.stop();
  const shown = written.join("").replace(/^ +(agent|user) {2}/gm, "$1: ");
  const a = "user: Hello from a\nagent: one of a\n";
  const end = "         user_stop, 1 turns, 0 tool calls, 5 ms\n";
  expect(shown).toBe(`── a\n${a}${a}${end}── b\nuser: Hello from b\nagent: one of b\n`);
});

test("the block shows the workers of a queue, the busiest first and not all of them", () => {
  const { terminal } = screen();
  const tally = new RunTally();
  tally.add(begin(plan("Clinic")), 0);
  const worker = (n: number, more = {}) => ({
    ...{ host: `node-${n}`, pid: n, inFlight: n, finished: 9, perSecond: 0.05, upSeconds: 60, silentSeconds: 2 },
    ...{ isAlive: true, ...more },
  });
  const load = (workers: ReturnType<typeof worker>[]) => ({
    ...{ endpoints: [], backingOff: {}, retries: {}, now: 0, calls: [], workers },
  });
  const lines = (workers: ReturnType<typeof worker>[], rows = 24) =>
    totalsBlock(terminal, tally, { now: 1000, load: load(workers), rows }).slice(2);
  const many = Array.from({ length: 40 }, (_, n) => worker(n + 1));
  expect(lines([...many, worker(50, { inFlight: 0, isAlive: false, silentSeconds: 200 })])).toEqual([
    "40 workers on 40 hosts: 820 in flight, 2.0/s; 1 silent",
    ...[40, 39, 38, 37, 36, 35].map((n) => `  node-${n}  ${n}  ${n} in flight  3.0/min  seen 2.0 s ago`),
    "  and 35 more",
  ]);
  expect(lines(many, Number.POSITIVE_INFINITY)).toHaveLength(41);
  expect(lines([worker(3, { isAlive: false, silentSeconds: 200 })])).toContainEqual(
    "  node-3  3  3 in flight  3.0/min  silent for 3 min",
  );
  expect(lines([])).toEqual([expect.stringContaining("no worker serves this run yet")]);
});
