// From rollouts to numbers: success rate, avg@n, pass@k and pass^k with their intervals. A number that the rollouts
// cannot support is null, never made up.
import { mean, sum } from "../core/index.ts";
import { passAtK, passHatK } from "./estimators.ts";
import { type Interval, meanInterval, shareInterval } from "./intervals.ts";

/** One query's rollouts: how many were scored, how many passed, and the sum of their scores. */
export type Tally = { rollouts: number; scored: number; passed: number; score: number };
type ByK = { [k: string]: number | null };

export type QueryNumbers = {
  rollouts: number;
  scored: number;
  passed: number;
  success_rate: number | null;
  /** mean score of the rollouts */
  avg_at_n: number | null;
  pass_at_k: ByK;
  pass_hat_k: ByK;
  outcome: "always" | "never" | "wavers" | "not scored";
};

export type Numbers = Omit<QueryNumbers, "outcome"> & {
  query_count: number;
  success_interval: Interval | null;
  avg_at_n_interval: Interval | null;
  pass_at_k_interval: { [k: string]: Interval | null };
  pass_hat_k_interval: { [k: string]: Interval | null };
  /** how many queries have k rollouts; pass@k and pass^k are means over those */
  queries_with_k: { [k: string]: number };
  always: number;
  never: number;
  wavers: number;
};

export function queryNumbers({ rollouts, scored, passed, score }: Tally): QueryNumbers {
  const upTo = (estimate: typeof passAtK) =>
    Object.fromEntries(steps(scored).map((k) => [k, estimate(scored, passed, k) ?? null]));
  return {
    rollouts,
    scored,
    passed,
    success_rate: scored > 0 ? passed / scored : null,
    avg_at_n: scored > 0 ? score / scored : null,
    pass_at_k: upTo(passAtK),
    pass_hat_k: upTo(passHatK),
    outcome: outcomeOf(scored, passed),
  };
}

export function numbersOf(tallies: readonly Tally[]): Numbers {
  const scored = tallies.filter((tally) => tally.scored > 0);
  const total = (read: (tally: Tally) => number) => sum(tallies.map(read));
  const most = scored.reduce((max, tally) => Math.max(max, tally.scored), 0);
  const outcomes = scored.map((tally) => outcomeOf(tally.scored, tally.passed));
  const count = (outcome: string) => outcomes.filter((own) => own === outcome).length;
  const rollouts = total((tally) => tally.scored);
  const passed = total((tally) => tally.passed);
  const averages = scored.map((tally) => tally.score / tally.scored);
  const [at, hat] = [passAtK, passHatK].map((estimate) => byK(scored, most, estimate)) as [Series, Series];
  return {
    query_count: tallies.length,
    rollouts: total((tally) => tally.rollouts),
    scored: rollouts,
    passed,
    success_rate: rollouts > 0 ? passed / rollouts : null,
    success_interval: shareInterval(scored.map((tally) => ({ total: tally.passed, count: tally.scored }))) ?? null,
    avg_at_n: mean(averages),
    avg_at_n_interval: meanInterval(averages) ?? null,
    pass_at_k: at.means,
    pass_at_k_interval: at.intervals,
    pass_hat_k: hat.means,
    pass_hat_k_interval: hat.intervals,
    queries_with_k: Object.fromEntries(steps(most).map((k) => [k, scored.filter((tally) => tally.scored >= k).length])),
    always: count("always"),
    never: count("never"),
    wavers: count("wavers"),
  };
}

type Series = { means: ByK; intervals: { [k: string]: Interval | null } };

/** Over the queries that have k rollouts; the others say nothing about k. */
function byK(tallies: readonly Tally[], most: number, estimate: typeof passAtK): Series {
  const series: Series = { means: {}, intervals: {} };
  for (const k of steps(most)) {
    const values = tallies.flatMap(({ scored, passed }) => estimate(scored, passed, k) ?? []);
    series.means[k] = mean(values);
    series.intervals[k] = meanInterval(values) ?? null;
  }
  return series;
}

function outcomeOf(scored: number, passed: number): QueryNumbers["outcome"] {
  if (scored === 0) return "not scored";
  return passed === scored ? "always" : passed === 0 ? "never" : "wavers";
}

function steps(most: number): number[] {
  return Array.from({ length: most }, (_, index) => index + 1);
}
