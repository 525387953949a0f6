// 95 % intervals that know that rollouts of one query resemble each other: queries are the clusters. For a share of
// rollouts the variance is the cluster-robust one (each query's deviation from the overall share, summed before it is
// squared, with the small-sample factor G/(G-1)); for a mean over queries it is the ordinary one. Both use Student's t
// with G-1 degrees of freedom. If nothing varies, Wilson's interval over the G queries is given instead of a point.
import { sum } from "../core/index.ts";

export type Interval = { low: number; high: number };
export type Cluster = { total: number; count: number };

/** Of total over count, each cluster being one query: for example, passes among rollouts. */
export function shareInterval(clusters: readonly Cluster[]): Interval | undefined {
  const groups = clusters.filter(({ count }) => count > 0);
  const count = sum(groups.map((group) => group.count));
  if (groups.length < 2) return undefined;
  const share = sum(groups.map(({ total }) => total)) / count;
  const squares = sum(groups.map((group) => (group.total - share * group.count) ** 2));
  const error = Math.sqrt((groups.length / (groups.length - 1)) * squares) / count;
  return studentInterval(share, error, groups.length);
}

/** Of a mean of one number per query. */
export function meanInterval(values: readonly number[]): Interval | undefined {
  if (values.length < 2) return undefined;
  const mean = sum(values) / values.length;
  const variance = sum(values.map((value) => (value - mean) ** 2)) / (values.length - 1);
  return studentInterval(mean, Math.sqrt(variance / values.length), values.length);
}

function studentInterval(mean: number, error: number, groups: number): Interval {
  if (error < 1e-12) return wilsonInterval(mean, groups);
  const reach = studentT975(groups - 1) * error;
  return { low: Math.max(0, mean - reach), high: Math.min(1, mean + reach) };
}

function wilsonInterval(share: number, n: number): Interval {
  const z = 1.959964;
  const middle = (share + z ** 2 / (2 * n)) / (1 + z ** 2 / n);
  const reach = (z * Math.sqrt((share * (1 - share)) / n + z ** 2 / (4 * n ** 2))) / (1 + z ** 2 / n);
  return { low: Math.max(0, middle - reach), high: Math.min(1, middle + reach) };
}

const T975 = [
  12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.16, 2.145, 2.131, 2.12, 2.11,
  2.101, 2.093, 2.086, 2.08, 2.074, 2.069, 2.064, 2.06, 2.056, 2.052, 2.048, 2.045, 2.042,
];

/** The 97.5 % quantile of Student's t; beyond the table the Cornish-Fisher expansion, exact to three digits there. */
export function studentT975(degrees: number): number {
  const z = 1.959964;
  return (
    T975[degrees - 1] ?? z + (z ** 3 + z) / (4 * degrees) + (5 * z ** 5 + 16 * z ** 3 + 3 * z) / (96 * degrees ** 2)
  );
}
