// How much was spent in the last minute, exactly: in no window of sixty seconds is more spent than the limit, except for
// one thing that is larger than the limit itself, which waits until it is alone.

const MINUTE_MS = 60_000;

export type Spending = { at: number; amount: number };

export class MinuteWindow {
  #limit: number;
  /** oldest first, from `#head` on */
  #spendings: Spending[] = [];
  #head = 0;
  #total = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  tighten(limit: number): void {
    this.#limit = Math.min(this.#limit, limit);
  }

  /** Milliseconds until this amount may be spent. */
  waitFor(amount: number, now: number): number {
    this.#forget(now);
    let excess = this.#total + amount - this.#limit;
    let wait = 0;
    for (let index = this.#head; excess > 0 && index < this.#spendings.length; index++) {
      const oldest = this.#spendings[index] as Spending;
      excess -= oldest.amount;
      wait = oldest.at + MINUTE_MS - now;
    }
    return wait;
  }

  spend(amount: number, now: number): Spending {
    const spending = { at: now, amount };
    this.#spendings.push(spending);
    this.#total += amount;
    return spending;
  }

  /** Puts the true amount in the place of an estimate. */
  correct(spending: Spending, amount: number, now: number): void {
    this.#forget(now);
    if (spending.at + MINUTE_MS > now) this.#total += amount - spending.amount;
    spending.amount = amount;
  }

  #forget(now: number): void {
    while (this.#head < this.#spendings.length) {
      const oldest = this.#spendings[this.#head] as Spending;
      if (oldest.at + MINUTE_MS > now) break;
      this.#total -= oldest.amount;
      this.#head++;
    }
    if (this.#head > 1024 && this.#head * 2 > this.#spendings.length) {
      this.#spendings = this.#spendings.slice(this.#head);
      this.#head = 0;
    }
  }
}
