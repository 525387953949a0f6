// The pictures of a run, as numbers: how many rollouts are behind each bar and point, and where the table shows them.
import type { Bar, Charts } from "../api.ts";
import type { IndexedRow } from "../rows.ts";
import type { RunIndex } from "../run-index.ts";
import { countFacets } from "./rollouts.ts";

const known = new WeakMap<RunIndex, { version: number; charts: Charts }>();

/** Made again only after a change of the rows. */
export function chartsOf(index: RunIndex): Charts {
  const before = known.get(index);
  if (before?.version === index.rowsVersion) return before.charts;
  const charts = makeCharts(index);
  known.set(index, { version: index.rowsVersion, charts });
  return charts;
}

function makeCharts(index: RunIndex): Charts {
  const { rows } = index;
  const facets = countFacets(index);
  const bars = (member: string) =>
    Object.entries(facets[member] ?? {}).map(([label, count]) => toBar(label, count, { [member]: label }));
  const { passed = {}, failed = {} } = facets;
  const checks = [...new Set([...Object.keys(failed), ...Object.keys(passed)])];
  return {
    stopReasons: bars("stop"),
    verdicts: bars("verdict"),
    blame: bars("blame"),
    checks: checks.map((check) => ({
      check,
      passed: toBar("passed", passed[check] ?? 0, { passed: check }),
      failed: toBar("failed", failed[check] ?? 0, { failed: check }),
    })),
    faults: bars("fault"),
    tools: bars("tool"),
    annotations: bars("annotation"),
    tags: bars("tag"),
    scores: spread(
      rows.filter(({ score }) => score !== null),
      "score",
      ({ score }) => score ?? 0,
      0.1,
    ),
    turns: spread(rows, "turns", ({ turns }) => turns),
    steps: spread(rows, "steps", ({ steps }) => steps),
    toolCalls: spread(rows, "calls", ({ toolCalls }) => toolCalls),
    tokens: spread(rows, "tokens", ({ tokens }) => tokens),
    seconds: spread(rows, "seconds", ({ seconds }) => seconds, 0),
    finished: finishedOverTime(rows),
  };
}

function toBar(label: string, count: number, where: { [member: string]: string }): Bar {
  return { label, count, where: new URLSearchParams(where).toString() };
}

const STEPS = 12;

/** Round steps of at least `least`, from the smallest value to the largest; 0 allows any width. */
function spread(rows: readonly IndexedRow[], member: string, read: (row: IndexedRow) => number, least = 1): Bar[] {
  if (rows.length === 0) return [];
  let [low, high] = [Number.POSITIVE_INFINITY, 0];
  for (const row of rows) {
    const value = read(row);
    if (value < low) low = value;
    if (value > high) high = value;
  }
  if (high === 0) return []; // nothing to be told apart
  const width = Math.max(least, roundStep((high - low) / STEPS) || 1);
  const first = stepOf(low, width);
  const counts = new Array<number>(stepOf(high, width) - first + 1).fill(0);
  for (const row of rows) (counts[stepOf(read(row), width) - first] as number)++;
  return counts.map((count, step) => {
    const from = round((first + step) * width);
    const below = round((first + step + 1) * width);
    const isPoint = width === 1 || (member === "score" && from === 1);
    const label = isPoint ? short(from) : `${short(from)}–${short(below)}`;
    return toBar(label, count, { [`${member}.from`]: String(from), [`${member}.below`]: String(below) });
  });
}

/** By the bounds that the table filters with: 0.15 / 0.05 is below 3, and 0.15 is not below 0.15. */
function stepOf(value: number, width: number): number {
  const step = Math.floor(value / width);
  return value >= round((step + 1) * width) ? step + 1 : value < round(step * width) ? step - 1 : step;
}

function roundStep(step: number): number {
  if (step <= 0) return 0;
  const power = 10 ** Math.floor(Math.log10(step));
  return ([1, 2, 5, 10].find((factor) => factor * power >= step * 0.999) ?? 10) * power;
}

/** Without the dust of binary fractions. */
function round(value: number): number {
  return Number(value.toPrecision(12));
}

function short(value: number): string {
  return value >= 1e6 ? `${round(value / 1e6)}M` : value >= 10_000 ? `${round(value / 1000)}k` : String(value);
}

const POINTS = 48;

/** Equal spans of time from the first end to the last; spans in which nothing ended are left out. */
function finishedOverTime(rows: readonly IndexedRow[]): Charts["finished"] {
  const times = Float64Array.from(rows, ({ endedAt }) => endedAt)
    .filter((at) => at > 0)
    .sort();
  const [first, last] = [times[0], times.at(-1)];
  if (first === undefined || last === undefined) return [];
  const width = Math.max(1, Math.ceil((last - first + 1) / POINTS));
  const points: Charts["finished"] = [];
  for (let at = 0; at < times.length; ) {
    const from = first + Math.floor(((times[at] as number) - first) / width) * width;
    const below = from + width;
    while (at < times.length && (times[at] as number) < below) at++;
    const where = new URLSearchParams({ "ended.from": String(from), "ended.below": String(below) });
    points.push({ at: Math.min(below, last) / 1000, total: at, where: where.toString() });
  }
  return points;
}
