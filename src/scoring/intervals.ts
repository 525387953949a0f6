// 95 % intervals that know that rollouts of one query resemble each other: queries are the clusters. Nothing is
// assumed about how hard queries are. Each limit is the one for the queries at hand joined by part of one more that
// does as badly, or as well, as a query can: the sample says nothing about rare queries that it happens to lack. Where
// every query passes or fails as a whole, that is nearly Clopper and Pearson's interval. docs/intervals.md has the
// coverage by simulation.
import { sum } from "../core/index.ts";

export type Interval = { low: number; high: number };
export type Cluster = { total: number; count: number };

/** What a limit is made of: how many queries, their mean, the sum of squares around it, and the part of one more. */
type Sample = { queries: number; mean: number; squares: number; extra: number };

/** Of total over count, each cluster being one query: for example, passes among rollouts. */
export function shareInterval(clusters: readonly Cluster[]): Interval | undefined {
  const groups = clusters.filter(({ count }) => count > 0);
  if (groups.length < 2) return undefined;
  const count = sum(groups.map((group) => group.count));
  const mean = sum(groups.map(({ total }) => total)) / count;
  // queries of unequal size are worth fewer equal ones
  const queries = count ** 2 / sum(groups.map((group) => group.count ** 2));
  const squares = (queries / count) ** 2 * sum(groups.map((group) => (group.total - mean * group.count) ** 2));
  // 1 if queries pass or fail as wholes or if there is little to go by, less the more alike they are
  const spread = Math.min(1, (squares + PRIOR) / (queries * mean * (1 - mean) + PRIOR));
  const sample = { queries, squares, extra: 0.8 * spread }; // 1 would be Clopper and Pearson's, wider than need be
  return { low: 1 - upperLimit({ ...sample, mean: 1 - mean }), high: upperLimit({ ...sample, mean }) };
}

/** Of a mean of one number per query, each from 0 to 1. */
export function meanInterval(values: readonly number[]): Interval | undefined {
  return shareInterval(values.map((total) => ({ total, count: 1 })));
}

/** Of a mean of one difference per query, each from -1 to 1. */
export function differenceInterval(differences: readonly number[]): Interval | undefined {
  const queries = differences.length;
  if (queries < 2) return undefined;
  const mean = sum(differences) / queries;
  const squares = sum(differences.map((difference) => (difference - mean) ** 2));
  const moved = sum(differences.map(Math.abs));
  const limit = (sign: 1 | -1) => {
    const ahead = sum(differences.map((difference) => Math.max(0, sign * difference) ** 2));
    const extra = (ahead + PRIOR) / (moved + PRIOR);
    return 2 * upperLimit({ queries, mean: (1 + sign * mean) / 2, squares: squares / 4, extra }) - 1;
  };
  return { low: -limit(-1), high: limit(1) };
}

/** In queries: how much has to be seen before the sample outweighs the assumption that queries differ widely. */
const PRIOR = 2;

/** 97.5 % of a Beta distribution with the mean and the Bayesian-bootstrap variance of the sample and its extra 1. */
function upperLimit({ queries, mean, squares, extra }: Sample): number {
  if (mean > 1 - 1e-12) return 1;
  const n = queries + extra;
  const middle = (queries * mean + extra) / n;
  const variance = (squares + ((queries * extra) / n) * (1 - mean) ** 2) / (n * (n + 1));
  const weight = (middle * (1 - middle)) / variance - 1;
  return Math.max(mean, betaQuantile975(middle * weight, (1 - middle) * weight));
}

/** By Paulson's approximation (the cube root of an F ratio is nearly normal): two to four digits, from a = 0.8 up. */
function betaQuantile975(a: number, b: number): number {
  const [va, vb] = [1 / (9 * a), 1 / (9 * b)];
  const square = (1 - vb) ** 2 - Z975 ** 2 * vb;
  if (square <= 0) return 1;
  const half = (1 - va) * (1 - vb);
  const reach = Z975 * Math.sqrt(vb * (1 - va) ** 2 + va * (1 - vb) ** 2 - Z975 ** 2 * va * vb);
  const root = (half + reach) / square;
  return (a * root ** 3) / (a * root ** 3 + b);
}

const Z975 = 1.959964;
const T975 = [
  12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.16, 2.145, 2.131, 2.12, 2.11,
  2.101, 2.093, 2.086, 2.08, 2.074, 2.069, 2.064, 2.06, 2.056, 2.052, 2.048, 2.045, 2.042,
];

/** The 97.5 % quantile of Student's t; beyond the table the Cornish-Fisher expansion, exact to three digits there. */
export function studentT975(degrees: number): number {
  const z = Z975;
  return (
    T975[degrees - 1] ?? z + (z ** 3 + z) / (4 * degrees) + (5 * z ** 5 + 16 * z ** 3 + 3 * z) / (96 * degrees ** 2)
  );
}
