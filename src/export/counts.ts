// The accounting of an export: every record that came in either went out or was left out for a reason.

export type CountsReport = {
  /** records read */
  in: number;
  /** rows written; a pair is one row, and a record may be several */
  out: number;
  /** records that rows were made of: `in` = `used` + all of `left_out` */
  used: number;
  left_out: { [reason: string]: number };
  /** what rows lost or had changed, by the number of rows */
  notes: { [note: string]: number };
  /** rows per side of the split */
  splits: { [split: string]: number };
};

export class Counts {
  in = 0;
  out = 0;
  used = 0;
  readonly #leftOut = new Map<string, number>();
  readonly #notes = new Map<string, number>();
  readonly #splits = new Map<string, number>();

  leaveOut(reason: string, records = 1): void {
    this.#leftOut.set(reason, (this.#leftOut.get(reason) ?? 0) + records);
  }

  note(note: string): void {
    this.#notes.set(note, (this.#notes.get(note) ?? 0) + 1);
  }

  write(split: string, { rows = 1, records = 1 } = {}): void {
    this.out += rows;
    this.used += records;
    this.#splits.set(split, this.rowsOf(split) + rows);
  }

  rowsOf(split: string): number {
    return this.#splits.get(split) ?? 0;
  }

  /** A mismatch would be our bug, and no file may go out with it. */
  report(): CountsReport {
    const leftOut = [...this.#leftOut.values()].reduce((sum, number) => sum + number, 0);
    if (this.in !== this.used + leftOut)
      throw new Error(`the export does not add up: ${this.in} in, ${this.used} used, ${leftOut} left out`);
    return {
      in: this.in,
      out: this.out,
      used: this.used,
      left_out: sortCounts(this.#leftOut),
      notes: sortCounts(this.#notes),
      splits: Object.fromEntries(this.#splits),
    };
  }
}

function sortCounts(counts: Map<string, number>): { [key: string]: number } {
  return Object.fromEntries([...counts].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1)));
}
