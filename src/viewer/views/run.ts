// One run: how far it is, what it waits for, what failed, and what to do about it.
import { type RunLoad, readLoad, resumeCommand, spentText, usedBy } from "../../runner/index.ts";
import { adviceFor, type FailureRecord, groupFailures } from "../../runs/index.ts";
import type { RunView } from "../api.ts";
import type { RunIndex } from "../run-index.ts";
import type { NamedRun } from "../runs.ts";
import { chartsOf } from "./charts.ts";
import { numbersFor, toCard, totalsOf } from "./runs.ts";

export function toRunView(run: NamedRun, now = Date.now()): RunView {
  const { index } = run;
  const card = toCard(run, now);
  const { perSecond, secondsElapsed, secondsLeft, toolCalls, tokens, scriptedTokens, projectedCostUsd, slowest } =
    totalsOf(index, now);
  const { unfinished, tally, manifest } = index;
  const isOver = card.state === "stopped" || card.state === "failed" || card.state === "finished";
  const isLeft = isOver && (card.done < card.planned || unfinished.length > 0);
  const load = card.state === "running" ? readLoad(index.path) : undefined;
  return {
    card,
    notes: index.notes,
    stopped: isOver ? stopText(index, now) : undefined,
    journalRead: index.isRead ? 1 : index.progress,
    totals: { perSecond, secondsElapsed, secondsLeft, toolCalls, tokens, scriptedTokens, projectedCostUsd, slowest },
    datasets: datasetsOf(index),
    endpoints: load?.endpoints ?? [],
    workers: load?.workers,
    backingOff: load?.backingOff ?? {},
    retries: load?.retries ?? {},
    slowCalls: slowCallsOf(load),
    failures: failuresOf(card.state === "running" ? tally.totals(now).failures : groupFailures(unfinished), unfinished),
    resume: isLeft && manifest ? resumeCommand(index.path, { tally, manifest, failures: unfinished }, now) : undefined,
    numbers: numbersFor(index),
    charts: chartsOf(index),
  };
}

/** As the journal counts them; without a journal, as many as there are records. */
function datasetsOf({ tally, rows, manifest }: RunIndex): RunView["datasets"] {
  const counted = tally.datasets.map(({ name, planned, kept, finished, failed, givenUp }) => ({
    name,
    planned,
    done: kept + finished,
    failed: failed + givenUp,
  }));
  if (counted.length > 0) return counted;
  const records = new Map(Object.keys(manifest?.datasets ?? {}).map((name) => [name, 0]));
  for (const { dataset } of rows) records.set(dataset, (records.get(dataset) ?? 0) + 1);
  return [...records].map(([name, done]) => ({ name, planned: done, done, failed: 0 }));
}

function stopText({ tally, manifest }: RunIndex, now: number): string | undefined {
  if (tally.stopMessage !== undefined) return tally.stopMessage;
  if (tally.stoppedBy !== "budget" || !manifest) return undefined;
  return `Its budget stopped it: ${spentText(manifest.config as Parameters<typeof spentText>[0], usedBy(tally, now))}.`;
}

function slowCallsOf(load: RunLoad | undefined): RunView["slowCalls"] {
  return (load?.calls ?? []).slice(0, MAX_SLOW).map(({ id, dataset, party, model, tool, since }) => ({
    id,
    dataset,
    who: party ? `${party} ${model}` : tool === undefined ? "its tools start" : `tool ${tool}`,
    seconds: ((load?.now ?? 0) - since) / 1000,
  }));
}

const MAX_SLOW = 5;

function failuresOf(groups: ReturnType<typeof groupFailures>, failures: readonly FailureRecord[]): RunView["failures"] {
  return groups.map((group) => {
    const example = failures.find(({ error }) => error === group.reason);
    return {
      ...group,
      advice: adviceFor(group),
      example: example && { dataset: example.dataset, id: example.id },
    };
  });
}
