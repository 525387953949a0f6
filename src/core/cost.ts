// Dollars, as far as they are known. A call without a known price makes every sum that it is in unknown; the part that
// is known stays visible next to the models that are not.

export type Cost = {
  /** null: not known */
  costUsd: number | null;
  /** the known part of a cost that is not known */
  costKnownUsd?: number;
  /** why it is not known: these models have no known price, or their servers count no tokens */
  costUnknownOf?: string[];
};

/** The same in records and summaries. */
export type CostRecord = { cost_usd: number | null; cost_known_usd?: number; cost_unknown_of?: string[] };

export const NO_COST: Cost = { costUsd: 0 };

export function knownCost({ costUsd, costKnownUsd = 0 }: Cost): number {
  return costUsd ?? costKnownUsd;
}

export function addCosts(a: Cost, b: Cost): Cost {
  const known = knownCost(a) + knownCost(b);
  if (a.costUsd !== null && b.costUsd !== null) return { costUsd: known };
  const models = a.costUnknownOf ?? [];
  const others = b.costUnknownOf?.filter((model) => !models.includes(model)) ?? [];
  const costUnknownOf = others.length === 0 ? models : [...models, ...others].sort();
  return { costUsd: null, costKnownUsd: known, costUnknownOf };
}

export function toCostRecord({ costUsd, costKnownUsd, costUnknownOf }: Cost): CostRecord {
  if (costUsd !== null) return { cost_usd: costUsd };
  return { cost_usd: null, cost_known_usd: costKnownUsd ?? 0, cost_unknown_of: costUnknownOf ?? [] };
}

/** Records made elsewhere may say nothing of it: then it is nothing. */
export function readCost({ cost_usd, cost_known_usd, cost_unknown_of }: Partial<CostRecord>): Cost {
  if (cost_usd !== null) return { costUsd: cost_usd ?? 0 };
  return { costUsd: null, costKnownUsd: cost_known_usd ?? 0, costUnknownOf: cost_unknown_of ?? [] };
}
