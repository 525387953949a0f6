// Choosing among the rollouts of a query, and the order of rows: both over an index of where the records are.
import { createHash } from "node:crypto";
import type { LineSource } from "./source.ts";

export type Order = {
  /** the best rollout of each query by score; with `perQuery`, the best `perQuery` */
  bestOf?: boolean;
  perQuery?: number;
  /** the order depends only on this seed and each record's own name */
  shuffle?: number;
};

export type Indexed = { source: LineSource; query: string; rollout: number; score: number; id: string };

export function orderIndex(
  index: Indexed[],
  { bestOf, perQuery, shuffle }: Order,
): { kept: Indexed[]; leftOut: string[] } {
  const limit = perQuery ?? (bestOf ? 1 : undefined);
  const kept = limit === undefined ? index : firstOfEach(index, limit, bestOf ?? false);
  const reason = bestOf ? "not among the best of its query" : `more than ${limit} rollouts of its query`;
  const leftOut = new Array<string>(index.length - kept.length).fill(reason);
  return { kept: shuffle === undefined ? kept : shuffleBy(kept, shuffle), leftOut };
}

function firstOfEach(index: Indexed[], limit: number, byScore: boolean): Indexed[] {
  const ranked = index.toSorted((a, b) => (byScore ? b.score - a.score : 0) || a.rollout - b.rollout);
  const taken = new Map<string, number>();
  const kept = new Set<Indexed>();
  for (const item of ranked) {
    const before = taken.get(item.query) ?? 0;
    if (before >= limit) continue;
    taken.set(item.query, before + 1);
    kept.add(item);
  }
  return index.filter((item) => kept.has(item));
}

/** The same order no matter in which order the records came in. */
function shuffleBy(index: Indexed[], seed: number): Indexed[] {
  const keyed = index.map((item) => ({
    item,
    key: createHash("sha256").update(`${seed}\n${item.query}\n${item.id}`).digest("hex"),
  }));
  return keyed.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0)).map(({ item }) => item);
}
