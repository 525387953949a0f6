// What a replay came to: records and calls by what became of them, differences by dataset and kind, and the first one.
import type { Difference, ReplayedRecord } from "./replay-record.ts";

export type ReplayTotals = {
  /** `trusted`: nothing differs, but some calls were not made again; `left`: not begun */
  records: { agree: number; differ: number; trusted: number; unreachable: number; left: number };
  calls: { made: number; trusted: number };
  differences: { dataset: string; kind: Difference["kind"]; count: number }[];
  /** in the order of the records */
  first?: Difference;
};

export class ReplayTally {
  done = 0;
  readonly #records = { agree: 0, differ: 0, trusted: 0, unreachable: 0 };
  readonly #calls = { made: 0, trusted: 0 };
  readonly #counts = new Map<string, ReplayTotals["differences"][number]>();
  #first: { index: number; difference: Difference } | undefined;

  add(index: number, { made, trusted, differences }: ReplayedRecord): void {
    this.done++;
    this.#calls.made += made;
    this.#calls.trusted += trusted;
    const [difference] = differences;
    if (!difference) this.#records[trusted > 0 ? "trusted" : "agree"]++;
    else this.#records[differences.every(({ kind }) => kind === "unreachable") ? "unreachable" : "differ"]++;
    for (const { dataset, kind } of differences) {
      const key = JSON.stringify([dataset, kind]);
      this.#counts.set(key, { dataset, kind, count: (this.#counts.get(key)?.count ?? 0) + 1 });
    }
    if (difference && index < (this.#first?.index ?? Number.POSITIVE_INFINITY)) this.#first = { index, difference };
  }

  totals(planned: number): ReplayTotals {
    return {
      records: { ...this.#records, left: Math.max(planned - this.done, 0) },
      calls: this.#calls,
      differences: [...this.#counts].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, count]) => count),
      first: this.#first?.difference,
    };
  }
}
