// Every run as a card: what state it is in, how far it is, and how good.
import { statSync } from "node:fs";
import { messageOf } from "../../core/index.ts";
import { type RunTotals, writerOf } from "../../runs/index.ts";
import { type Numbers, numbersOf } from "../../scoring/index.ts";
import type { RunCard, RunState, Share } from "../api.ts";
import type { RunIndex } from "../run-index.ts";
import type { NamedRun } from "../runs.ts";

/** All of them: what happens to one run's files leaves the others alone. */
export function toCards(runs: readonly NamedRun[]): RunCard[] {
  return runs.map((run) => {
    try {
      return toCard(run);
    } catch (error) {
      return unreadableCard(run, messageOf(error));
    }
  });
}

function unreadableCard({ name, index }: NamedRun, trouble: string): RunCard {
  const nothing = { planned: 0, done: 0, failed: 0, running: 0, agents: [], datasets: [], scripted: false };
  return {
    name,
    folder: index.path,
    state: "unreadable",
    trouble,
    ...nothing,
    costUsd: null,
    startedAt: 0,
    changedAt: 0,
  };
}

export function toCard({ name, index }: NamedRun, now = Date.now()): RunCard {
  const totals = totalsOf(index, now);
  const { manifest } = index;
  const agents = new Set(
    Object.values(manifest?.datasets ?? {}).map(({ parts }) => String(parts?.["agent model"] ?? "")),
  );
  const done = Math.max(totals.done, index.rows.length);
  return {
    name,
    folder: index.path,
    state: stateOf(index, { ...totals, done }),
    trouble: index.trouble,
    planned: Math.max(totals.planned, done),
    done,
    failed: totals.failed,
    running: totals.running,
    agents: [...agents].filter(Boolean),
    datasets: Object.keys(manifest?.datasets ?? {}),
    scripted: index.rows.some(({ scripted }) => scripted),
    passAt1: passAt1Of(numbersFor(index)),
    costUsd: totals.costUsd,
    startedAt: index.tally.startedAt || Date.parse(manifest?.created_at ?? "") || 0,
    changedAt: lastWrite(index.journal) ?? lastWrite(index.path) ?? 0,
  };
}

/** A killed session wrote no end: nothing of it is running, and it lasted until its last write. */
export function totalsOf(index: RunIndex, now: number): RunTotals {
  if (index.tally.endedAt !== undefined || writerOf(index.path)) return index.tally.totals(now);
  const { startedAt } = index.tally; // 0 as long as the journal has not been read, or if there is none
  const totals = index.tally.totals(startedAt === 0 ? 0 : (lastWrite(index.journal) ?? startedAt));
  return { ...totals, running: 0, slowest: [], secondsLeft: undefined, waiting: totals.waiting + totals.running };
}

function lastWrite(path: string): number | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false })?.mtimeMs;
  } catch {
    return undefined; // not ours to read
  }
}

function stateOf(
  { trouble, isTableRead, isRead, path, tally }: RunIndex,
  { planned, done, failed }: Pick<RunTotals, "planned" | "done" | "failed">,
): RunState {
  if (trouble !== undefined) return "unreadable";
  if (writerOf(path)) return "running";
  if (!isTableRead || !isRead) return "reading";
  if (tally.stoppedBy === "setup" || (done === 0 && failed > 0)) return "failed";
  return done + failed >= planned ? "finished" : "stopped";
}

function passAt1Of({ pass_at_k, pass_at_k_interval }: Numbers): Share | undefined {
  const value = pass_at_k[1];
  if (value === undefined || value === null) return undefined;
  return { value, ...pass_at_k_interval[1] };
}

const known = new WeakMap<RunIndex, { version: number; numbers: Numbers }>();

/** pass@k and the rest, computed again only after a change. */
export function numbersFor(index: RunIndex): Numbers {
  const before = known.get(index);
  if (before?.version === index.rowsVersion) return before.numbers;
  const tallies = [];
  for (const rows of index.queries) {
    const tally = { rollouts: rows.length, scored: 0, passed: 0, score: 0 };
    for (const { verdict, score } of rows) {
      if (verdict !== "solved" && verdict !== "failed") continue;
      tally.scored++;
      tally.passed += verdict === "solved" ? 1 : 0;
      tally.score += score ?? 0;
    }
    tallies.push(tally);
  }
  const numbers = numbersOf(tallies);
  known.set(index, { version: index.rowsVersion, numbers });
  return numbers;
}
