// Two runs, query by query, on the queries that both have; and what a rollout can be compared with.
import { mean } from "../../core/index.ts";
import { describeDifference } from "../../scoring/index.ts";
import type { CompareChoices, QueryOutcome, RunComparison } from "../api.ts";
import type { IndexedRow } from "../rows.ts";
import type { RunIndex } from "../run-index.ts";
import type { NamedRun } from "../runs.ts";

const OUTCOMES = ["won", "lost", "equal", "not comparable"] as const satisfies QueryOutcome[];
const LIMIT = 200;

/** `params`: `show` one outcome only, `offset` of the first query. */
export function toRunComparison(first: NamedRun, second: NamedRun, params: URLSearchParams): RunComparison {
  const [a, b] = [queriesOf(first.index), queriesOf(second.index)];
  const shared = [...a].flatMap(([key, own]) => {
    const other = b.get(key);
    return other ? [compareQuery(own, other)] : [];
  });
  const differences = shared.flatMap(({ difference }) => difference ?? []);
  const counts = Object.fromEntries(
    OUTCOMES.map((outcome) => [outcome, shared.filter((query) => query.outcome === outcome).length]),
  ) as RunComparison["counts"];
  const wanted = shared.filter(({ outcome }) => !params.has("show") || params.getAll("show").includes(outcome));
  wanted.sort((x, y) => Math.abs(y.difference ?? 0) - Math.abs(x.difference ?? 0));
  const offset = Math.max(0, Math.floor(Number(params.get("offset"))) || 0);
  return {
    a: sideOf(
      first,
      shared.map(({ rates }) => rates[0]),
    ),
    b: sideOf(
      second,
      shared.map(({ rates }) => rates[1]),
    ),
    difference: describeDifference(differences, `${second.name} − ${first.name}`),
    counts,
    leftOut: a.size + b.size - 2 * shared.length,
    chosen: wanted.length,
    queries: wanted.slice(offset, offset + LIMIT).map(({ dataset, query, outcome, rates, rows }) => ({
      dataset,
      query,
      outcome,
      rates,
      ids: pickIds(rows, outcome),
    })),
  };
}

function sideOf({ name, index }: NamedRun, rates: readonly (number | null)[]): RunComparison["a"] {
  const agents = Object.values(index.manifest?.datasets ?? {}).map(({ parts }) => parts?.["agent model"]);
  const named = agents.filter((agent) => typeof agent === "string");
  return { name, agents: [...new Set(named)], solved: mean(rates.flatMap((rate) => rate ?? [])) };
}

const known = new WeakMap<RunIndex, { version: number; queries: Map<string, IndexedRow[]> }>();

/** Computed again only after a change. */
function queriesOf(index: RunIndex): Map<string, IndexedRow[]> {
  const before = known.get(index);
  if (before?.version === index.version) return before.queries;
  const queries = new Map<string, IndexedRow[]>();
  for (const row of index.rows) {
    const key = `${row.dataset}\n${row.queryId}`;
    const own = queries.get(key);
    if (own) own.push(row);
    else queries.set(key, [row]);
  }
  known.set(index, { version: index.version, queries });
  return queries;
}

type ComparedQuery = {
  dataset: string;
  query: string;
  rows: [IndexedRow[], IndexedRow[]];
  rates: [number | null, number | null];
  difference: number | undefined;
  outcome: QueryOutcome;
};

function compareQuery(a: IndexedRow[], b: IndexedRow[]): ComparedQuery {
  const { dataset, queryId } = a[0] as IndexedRow;
  const [before, after] = [rateOf(a), rateOf(b)];
  const difference = before === null || after === null ? undefined : after - before;
  const outcome =
    difference === undefined ? "not comparable" : difference > 0 ? "won" : difference < 0 ? "lost" : "equal";
  return { dataset, query: queryId, rows: [a, b], rates: [before, after], difference, outcome };
}

function rateOf(rows: readonly IndexedRow[]): number | null {
  return mean(rows.flatMap(({ verdict }) => (verdict === "solved" ? 1 : verdict === "failed" ? 0 : [])));
}

/** Where they differ, one that failed beside one that is solved. */
function pickIds([a, b]: ComparedQuery["rows"], outcome: QueryOutcome): [string, string] {
  const pick = (rows: readonly IndexedRow[], verdict: string) =>
    (rows.find((row) => row.verdict === verdict) ?? (rows[0] as IndexedRow)).id;
  if (outcome === "won") return [pick(a, "failed"), pick(b, "solved")];
  if (outcome === "lost") return [pick(a, "solved"), pick(b, "failed")];
  return [pick(a, ""), pick(b, "")];
}

const MAX_CHOICES = 200;

export function toCompareChoices(
  own: NamedRun,
  all: readonly NamedRun[],
  { dataset, id }: { dataset: string; id: string },
): CompareChoices | undefined {
  const key = own.index.find(dataset, id);
  if (!key) return undefined;
  const runs = [own, ...all.filter((run) => run !== own)];
  const choices = runs.flatMap(({ name, index }) =>
    index.rows
      .filter((row) => row.queryId === key.queryId && row.dataset === dataset)
      .filter((row) => name !== own.name || row.id !== id)
      .map((row) => ({ run: name, dataset, id: row.id, verdict: row.verdict, stopReason: row.stopReason })),
  );
  return choices.slice(0, MAX_CHOICES);
}
