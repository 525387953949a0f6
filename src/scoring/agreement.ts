// How far two annotators agree beyond what chance would give: Cohen's kappa.

/**
 * `pairs`: the two verdicts on each item that both judged. Null where chance alone agrees always, or there is no item:
 * then there is nothing to compare with. Counts stay whole until the one division, so that round cases are exact.
 */
export function cohensKappa(pairs: readonly (readonly [string, string])[]): number | null {
  const total = pairs.length;
  const agreed = pairs.filter(([a, b]) => a === b).length;
  const counts = [new Map<string, number>(), new Map<string, number>()] as const;
  for (const pair of pairs)
    for (const side of [0, 1] as const) counts[side].set(pair[side], (counts[side].get(pair[side]) ?? 0) + 1);
  let byChance = 0;
  for (const [verdict, count] of counts[0]) byChance += count * (counts[1].get(verdict) ?? 0);
  const room = total * total - byChance;
  return room === 0 ? null : (total * agreed - byChance) / room;
}
