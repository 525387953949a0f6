// A run's current totals, added up from its events: the live block, `rollout status` and every other view
// show the same numbers. Only running rollouts are held individually.
import {
  addCosts,
  type Cost,
  type DatasetCounts,
  knownCost,
  NO_COST,
  NO_USAGE,
  type RolloutKey,
  type RunEnd,
  type RunEvent,
  rolloutId,
  type Usage,
} from "../core/index.ts";
import { type FailureGroup, FailureGroups } from "./failure-groups.ts";
import { keyText } from "./finished.ts";

export type DatasetTally = DatasetCounts & { finished: number; failed: number };

export type RunTotals = Cost & {
  planned: number;
  /** including those of earlier sessions */
  done: number;
  running: number;
  /** neither started nor given up */
  waiting: number;
  failed: number;
  /** rollouts that this session finished, and how many per second recently */
  finished: number;
  perSecond: number;
  /** of this session */
  secondsElapsed: number;
  /** undefined until it is known within a factor of two */
  secondsLeft: number | undefined;
  /** of all sessions that were added up: a live view knows its own, the journal knows all */
  toolCalls: number;
  tokens: number;
  /** estimates of scripts, which are not in `tokens` */
  scriptedTokens: number;
  /** if it continues like this, and is known */
  projectedCostUsd: number | undefined;
  /** how many rollouts failed, by the class of the failure */
  errors: { [kind: string]: number };
  /** the same by reason, in whole sentences */
  failures: FailureGroup[];
  /** the longest running rollouts */
  slowest: { id: string; dataset: string; seconds: number }[];
};

type Running = { id: string; dataset: string; since: number };

/** The rate covers the last few minutes: long enough for rollouts that take one. */
const WINDOW_MS = 300_000;
const SAMPLE_MS = 1000;
const MAX_SLOWEST = 3;
const MIN_FINISHED = 4;

export class RunTally {
  readonly #datasets = new Map<string, DatasetTally>();
  readonly #running = new Map<string, Running>();
  #errors = new Map<string, number>();
  #failures = new FailureGroups();
  #samples: { at: number; finished: number }[] = [];
  #finished = 0;
  /** at once, in this session */
  #mostRunning = 0;
  #toolCalls = 0;
  #tokens = 0;
  #scriptedTokens = 0;
  #cost = NO_COST;
  /** what earlier sessions cost, if they were added up here */
  #paidBefore = 0;
  /** on the clock of `totals` */
  #began = 0;
  #ended: number | undefined;
  startedAt = 0;
  /** undefined while it is running */
  endedAt: number | undefined;
  stoppedBy: RunEnd["stoppedBy"];
  /** what was wrong, if a wrong setup stopped it */
  stopMessage: string | undefined;

  get datasets(): DatasetTally[] {
    return [...this.#datasets.values()];
  }

  /** It has begun and has not ended. */
  isRunning(key: RolloutKey): boolean {
    return this.#running.has(keyText(key));
  }

  /** `at`: when it happened; a live view says so on its own clock, which is also that of `totals` then. */
  add(event: RunEvent, at = "at" in event ? Date.parse(event.at) : 0): void {
    if (event.type === "run-start") {
      this.startedAt = Date.parse(event.at);
      this.#begin(event.datasets, at);
    } else if (event.type === "run-end") {
      this.#ended = at;
      this.endedAt = Date.parse(event.at);
      this.stoppedBy = event.stoppedBy;
      this.stopMessage = event.message;
    } else if (event.type === "rollout-start") {
      const key = keyText(event);
      this.#running.delete(key); // it is starting over
      this.#running.set(key, { id: rolloutId(event), dataset: event.dataset, since: at });
      this.#mostRunning = Math.max(this.#mostRunning, this.#running.size);
    } else if (event.type === "entry-end") {
      if (event.entry.type === "tool-result") this.addEntry(undefined);
      else this.addEntry(event.entry.usage);
    } else if (event.type === "rollout-end") {
      this.#running.delete(keyText(event));
      const dataset = this.#datasets.get(event.dataset);
      if (event.outcome.stopReason === "infrastructure") {
        const kind = event.outcome.kind ?? "unknown";
        this.#errors.set(kind, (this.#errors.get(kind) ?? 0) + 1);
        this.#failures.add({ reason: event.outcome.message ?? kind, kind });
        if (dataset) dataset.failed++;
      } else {
        this.#finished++;
        this.#sample(at);
        if (dataset) dataset.finished++;
      }
    }
  }

  /** A reply's usage; undefined for a tool result. */
  addEntry(usage: Usage | undefined): void {
    if (!usage) this.#toolCalls++;
    const all = { ...NO_USAGE, ...usage };
    const tokens = all.inputTokens + all.outputTokens;
    if (all.scripted) this.#scriptedTokens += tokens;
    else this.#tokens += tokens;
    this.#cost = addCosts(this.#cost, all);
  }

  totals(at: number): RunTotals {
    const now = this.#ended ?? this.endedAt ?? at;
    const sum = (member: "planned" | "kept" | "finished" | "failed" | "givenUp" | "later") =>
      this.datasets.reduce((total, dataset) => total + (dataset[member] ?? 0), 0);
    const running = this.endedAt === undefined ? this.#running.size : 0;
    const done = sum("kept") + sum("finished");
    const failed = sum("failed") + sum("givenUp");
    const left = Math.max(sum("planned") - done - failed, 0);
    const leftNow = Math.max(left - sum("later"), 0);
    const perSecond = this.#rate(now);
    return {
      planned: sum("planned"),
      done,
      running,
      waiting: left - Math.min(running, left),
      failed,
      finished: this.#finished,
      perSecond,
      secondsElapsed: Math.max(0, now - this.#began) / 1000,
      secondsLeft: this.#secondsLeft(leftNow, running, perSecond),
      toolCalls: this.#toolCalls,
      tokens: this.#tokens,
      scriptedTokens: this.#scriptedTokens,
      ...this.#cost,
      projectedCostUsd: this.#projected(leftNow),
      errors: Object.fromEntries(this.#errors),
      failures: this.#failures.list(),
      slowest: running > 0 ? this.#slowest(now) : [],
    };
  }

  /**
   * Early on only short rollouts have finished, and at the end the last ones take as long as they take: the rate tells
   * something once as many have finished as run at once, and while at least as many still wait.
   */
  #secondsLeft(left: number, running: number, perSecond: number): number | undefined {
    const isKnown = this.#finished >= Math.max(MIN_FINISHED, this.#mostRunning) && left - running >= running;
    return isKnown && left > 0 && perSecond > 0 && this.endedAt === undefined ? left / perSecond : undefined;
  }

  #projected(left: number): number | undefined {
    const { costUsd } = this.#cost;
    if (this.#finished === 0 || left === 0 || costUsd === null) return undefined;
    return costUsd + ((costUsd - this.#paidBefore) * left) / this.#finished;
  }

  #begin(datasets: readonly DatasetCounts[], at: number): void {
    for (const plan of datasets) this.#datasets.set(plan.name, { ...plan, finished: 0, failed: 0 });
    this.#running.clear();
    this.#errors = new Map();
    this.#failures = new FailureGroups();
    this.#samples = [{ at, finished: 0 }];
    this.#finished = 0;
    this.#mostRunning = 0;
    this.#paidBefore = knownCost(this.#cost);
    this.#began = at;
    this.#ended = undefined;
    this.endedAt = undefined;
    this.stoppedBy = undefined;
    this.stopMessage = undefined;
  }

  #sample(at: number): void {
    const last = this.#samples.at(-1);
    if (last && at - last.at < SAMPLE_MS) return;
    this.#samples.push({ at, finished: this.#finished });
    while (this.#samples.length > 2 && at - (this.#samples[1]?.at ?? at) > WINDOW_MS) this.#samples.shift();
  }

  #rate(now: number): number {
    const before = this.#samples.findLast(({ at }) => at <= now - WINDOW_MS);
    const first = before ? { at: now - WINDOW_MS, finished: before.finished } : this.#samples[0];
    return first && now > first.at ? (this.#finished - first.finished) / ((now - first.at) / 1000) : 0;
  }

  /** The map is ordered by start. */
  #slowest(now: number): RunTotals["slowest"] {
    const slowest: RunTotals["slowest"] = [];
    for (const { id, dataset, since } of this.#running.values()) {
      slowest.push({ id, dataset, seconds: Math.max(0, now - since) / 1000 });
      if (slowest.length === MAX_SLOWEST) break;
    }
    return slowest;
  }
}
