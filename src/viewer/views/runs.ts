// Every run as a card: what state it is in, how far it is, and how good.
import { statSync } from "node:fs";
import { writerOf } from "../../runs/index.ts";
import { type Numbers, numbersOf } from "../../scoring/index.ts";
import type { RunCard, RunState, Share } from "../api.ts";
import type { RunIndex } from "../run-index.ts";
import type { NamedRun } from "../runs.ts";

export function toCard({ name, index }: NamedRun, now = Date.now()): RunCard {
  const totals = index.tally.totals(now);
  const { manifest } = index;
  const agents = new Set(
    Object.values(manifest?.datasets ?? {}).map(({ parts }) => String(parts["agent model"] ?? "")),
  );
  return {
    name,
    folder: index.path,
    state: stateOf(index, totals),
    trouble: index.trouble,
    planned: totals.planned,
    done: Math.max(totals.done, index.rows.length),
    failed: totals.failed,
    running: totals.running,
    agents: [...agents].filter(Boolean),
    datasets: Object.keys(manifest?.datasets ?? {}),
    scripted: index.rows.some(({ scripted }) => scripted),
    passAt1: passAt1Of(numbersFor(index)),
    costUsd: totals.costUsd,
    startedAt: index.tally.startedAt || Date.parse(manifest?.created_at ?? "") || 0,
    changedAt: statSync(index.path, { throwIfNoEntry: false })?.mtimeMs ?? 0,
  };
}

function stateOf(
  index: RunIndex,
  { planned, done, failed }: { planned: number; done: number; failed: number },
): RunState {
  if (index.trouble !== undefined) return "unreadable";
  if (!index.isRead) return "reading";
  if (writerOf(index.path)) return "running";
  return done + failed >= planned && index.tally.stoppedBy !== "setup" ? "finished" : "stopped";
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
  if (before?.version === index.version) return before.numbers;
  const queries = new Map<string, { rollouts: number; scored: number; passed: number; score: number }>();
  for (const { dataset, queryId, verdict, score } of index.rows) {
    const key = JSON.stringify([dataset, queryId]);
    const tally = queries.get(key) ?? { rollouts: 0, scored: 0, passed: 0, score: 0 };
    tally.rollouts++;
    if (verdict === "solved" || verdict === "failed") {
      tally.scored++;
      tally.passed += verdict === "solved" ? 1 : 0;
      tally.score += score ?? 0;
    }
    queries.set(key, tally);
  }
  const numbers = numbersOf([...queries.values()]);
  known.set(index, { version: index.version, numbers });
  return numbers;
}
