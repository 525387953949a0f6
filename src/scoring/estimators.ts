// How often a query is solved, from n rollouts of which c passed. Both estimators are unbiased over draws of k rollouts
// without replacement; fewer than k rollouts give no number.

/** The chance that at least one of k rollouts passes: 1 - C(n-c, k) / C(n, k). */
export function passAtK(n: number, c: number, k: number): number | undefined {
  requireCounts(n, c, k);
  if (n < k) return undefined;
  let noneOfK = 1;
  for (let i = 0; i < k; i++) noneOfK *= Math.max(n - c - i, 0) / (n - i);
  return 1 - noneOfK;
}

/** The chance that all of k rollouts pass: C(c, k) / C(n, k). */
export function passHatK(n: number, c: number, k: number): number | undefined {
  requireCounts(n, c, k);
  if (n < k) return undefined;
  let allOfK = 1;
  for (let i = 0; i < k; i++) allOfK *= Math.max(c - i, 0) / (n - i);
  return allOfK;
}

function requireCounts(n: number, c: number, k: number): void {
  if (!(Number.isInteger(n) && Number.isInteger(c) && Number.isInteger(k) && c >= 0 && c <= n && k >= 1))
    throw new Error(`there is no pass@${k} of ${c} of ${n}`);
}
