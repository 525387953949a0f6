// The numbers of a run as people read them: the live block and `rollout status` show the same lines.
import { knownCost } from "../../core/index.ts";
import type { RunLoad } from "../../runner/index.ts";
import type { DatasetTally, FailureGroup, RunTally, RunTotals } from "../../runs/index.ts";
import { costText } from "./cost-text.ts";
import { failureLines } from "./failures-text.ts";
import { endpointLines, retryText, slowText, workerLines } from "./load-text.ts";
import { count, cut, duration, printableName, type Terminal, table } from "./terminal.ts";

/** One line: what a plain log begins with. */
export function totalsLine(totals: RunTotals): string {
  return [
    `${totals.done}/${totals.planned} done`,
    `${totals.running} running`,
    `${totals.waiting} waiting`,
    `${totals.failed} failed`,
    `${totals.perSecond.toFixed(1)}/s`,
    `${duration(totals.secondsElapsed * 1000)} elapsed`,
    ...(totals.secondsLeft === undefined ? [] : [`about ${duration(totals.secondsLeft * 1000)} left`]),
    tokensText(totals),
    ...moneyOf(totals),
  ].join(" · ");
}

export type BlockOptions = {
  now: number;
  load?: RunLoad;
  /** waits of endpoints, in words */
  waits?: readonly string[];
  /** maximum number of lines */
  rows: number;
  /** all that remain, where more is known than this session's */
  failures?: FailureGroup[];
};

/** Workers in a block that is redrawn. */
const MAX_WORKERS = 6;

/** Everything, in as many lines as there is room for: finished datasets are left out first. */
export function totalsBlock(
  terminal: Terminal,
  tally: RunTally,
  { now, load, waits = [], rows, ...options }: BlockOptions,
): string[] {
  const totals = tally.totals(now);
  const failures = options.failures ?? totals.failures;
  const below = [
    totalsLine(totals),
    ...(load ? workerLines(load, rows === Number.POSITIVE_INFINITY ? rows : MAX_WORKERS) : []),
    ...(load ? endpointLines(load) : []),
    ...waits.map(printableName),
    ...(load ? retryText(load) : []),
    ...(failures.length > 0 ? ["failed:", ...failureLines(terminal, failures)] : []),
    ...slowestOf(totals),
    ...(load ? slowText(load) : []),
  ];
  return [...datasetLines(terminal, tally.datasets, Math.max(rows - below.length, 1)), ...below].slice(0, rows);
}

/** So far, and the projected total. */
function moneyOf({ projectedCostUsd, ...cost }: RunTotals): string[] {
  if (cost.costUsd === 0) return [];
  const projected = projectedCostUsd === undefined ? "" : ` of about $${projectedCostUsd.toFixed(2)}`;
  return [`${knownCost(cost) === 0 ? "cost " : ""}${costText(cost)}${projected}`];
}

/** What scripts estimate is in no total. */
function tokensText({ tokens, scriptedTokens }: RunTotals): string {
  if (tokens === 0 && scriptedTokens > 0) return "scripted tokens not counted";
  return `${count(tokens)} tokens${scriptedTokens > 0 ? " without the scripted" : ""}`;
}

function slowestOf({ slowest }: RunTotals): string[] {
  const slow = slowest.filter(({ seconds }) => seconds >= SLOW_SECONDS);
  if (slow.length === 0) return [];
  return [`slowest: ${slow.map(({ id, seconds }) => `${printableName(id)} ${duration(seconds * 1000)}`).join(", ")}`];
}

const SLOW_SECONDS = 5;

function datasetLines(terminal: Terminal, datasets: DatasetTally[], room: number): string[] {
  const open = datasets.filter((dataset) => doneOf(dataset) + failedOf(dataset) < dataset.planned);
  const shown = datasets.length <= room ? datasets : open.slice(0, room - 1);
  const rows = shown.map((dataset) => [
    cut(printableName(dataset.name), Math.max(16, terminal.columns() - BAR - 20)),
    bar(terminal, doneOf(dataset), dataset.planned),
    `${doneOf(dataset)}/${dataset.planned}`,
  ]);
  const more = datasets.length - shown.length;
  return [...table(rows, { right: [2] }), ...(more > 0 ? [`and ${more} more datasets`] : [])];
}

const doneOf = ({ kept, finished }: DatasetTally) => kept + finished;
const failedOf = ({ failed, givenUp }: DatasetTally) => failed + givenUp;

const BAR = 24;

function bar(terminal: Terminal, done: number, planned: number): string {
  const filled = planned === 0 ? BAR : Math.floor((done / planned) * BAR);
  return terminal.paint("green", "━".repeat(filled)) + terminal.paint("gray", "─".repeat(BAR - filled));
}
