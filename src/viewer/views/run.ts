// One run: how far it is, what it waits for, what failed, and the pictures.
import { PROGRAM_COMMAND } from "../../core/index.ts";
import { readLoad } from "../../runner/index.ts";
import { groupFailures } from "../../runs/index.ts";
import type { Bar, Charts, RunView } from "../api.ts";
import type { IndexedRow, RunIndex } from "../run-index.ts";
import type { NamedRun } from "../runs.ts";
import { numbersFor, toCard } from "./runs.ts";

export function toRunView(run: NamedRun, now = Date.now()): RunView {
  const { index } = run;
  const card = toCard(run, now);
  const { perSecond, secondsElapsed, secondsLeft, toolCalls, tokens, scriptedTokens, projectedCostUsd, slowest } =
    index.tally.totals(now);
  const unfinished = [...index.failures].filter(([key]) => !index.has(key)).map(([, failure]) => failure);
  const isLeft = card.state === "stopped" || (card.state === "finished" && unfinished.length > 0);
  return {
    card,
    notes: index.notes,
    totals: { perSecond, secondsElapsed, secondsLeft, toolCalls, tokens, scriptedTokens, projectedCostUsd, slowest },
    datasets: index.tally.datasets.map(({ name, planned, kept, finished, failed, givenUp }) => ({
      name,
      planned,
      done: kept + finished,
      failed: failed + givenUp,
    })),
    endpoints: card.state === "running" ? (readLoad(index.path)?.endpoints ?? []) : [],
    failures: groupFailures(unfinished),
    resume: isLeft ? `${PROGRAM_COMMAND} resume ${index.path}` : undefined,
    numbers: numbersFor(index),
    charts: chartsOf(index),
  };
}

function chartsOf({ rows }: RunIndex): Charts {
  const ended = rows.map(({ endedAt }) => endedAt / 1000).filter((at) => at > 0);
  ended.sort((a, b) => a - b);
  return {
    stopReasons: countBy(rows, "stop", ({ stopReason }) => stopReason),
    verdicts: countBy(rows, "verdict", ({ verdict }) => verdict),
    blame: countBy(rows, "blame", ({ blame }) => blame),
    checks: countBy(rows, "failed", ({ failedChecks }) => failedChecks),
    faults: countBy(rows, "fault", ({ faults }) => faults),
    tools: countBy(rows, "tool", ({ tools }) => tools),
    turns: spread(rows, "turns", ({ turns }) => turns),
    toolCalls: spread(rows, "calls", ({ toolCalls }) => toolCalls),
    tokens: spread(rows, "tokens", ({ tokens }) => tokens),
    seconds: spread(rows, "seconds", ({ seconds }) => seconds),
    finished: thin(ended),
  };
}

function countBy(
  rows: readonly IndexedRow[],
  member: string,
  read: (row: IndexedRow) => string | readonly string[],
): Bar[] {
  const counts = new Map<string, number>();
  for (const row of rows) for (const value of [read(row)].flat()) counts.set(value, (counts.get(value) ?? 0) + 1);
  counts.delete("");
  return [...counts]
    .sort(([, a], [, b]) => b - a)
    .map(([label, count]) => ({ label, count, where: new URLSearchParams({ [member]: label }).toString() }));
}

/** Ten round steps, from the least to the most. */
function spread(rows: readonly IndexedRow[], member: string, read: (row: IndexedRow) => number): Bar[] {
  if (rows.length === 0) return [];
  let most = 0;
  for (const row of rows) most = Math.max(most, read(row));
  const width = roundStep(most / 10);
  const counts = new Map<number, number>();
  for (const row of rows) {
    const step = Math.floor(read(row) / width);
    counts.set(step, (counts.get(step) ?? 0) + 1);
  }
  return Array.from({ length: Math.floor(most / width) + 1 }, (_, step) => {
    const least = step * width;
    const next = least + width;
    const label = width === 1 ? String(least) : `${short(least)}–${short(next)}`;
    const where = new URLSearchParams({ [`${member}.from`]: String(least), [`${member}.below`]: String(next) });
    return { label, count: counts.get(step) ?? 0, where: where.toString() };
  });
}

function roundStep(step: number): number {
  if (step <= 1) return 1;
  const power = 10 ** Math.floor(Math.log10(step));
  return ([1, 2, 5, 10].find((factor) => factor * power >= step) ?? 10) * power;
}

function short(value: number): string {
  return value >= 1e6 ? `${value / 1e6}M` : value >= 1000 ? `${value / 1000}k` : String(value);
}

const POINTS = 400;

function thin(ended: readonly number[]): Charts["finished"] {
  const step = Math.max(1, Math.ceil(ended.length / POINTS));
  const picked = ended
    .map((at, index) => ({ at, count: index + 1 }))
    .filter(({ count }) => count % step === 0 || count === ended.length);
  return { at: picked.map(({ at }) => at), count: picked.map(({ count }) => count) };
}
