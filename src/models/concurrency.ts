// How many requests may be in flight at once. A refusal here and there ("too many requests") costs one place each; when
// many come, or nothing gets through, there is a pause and few are sent. Once the server answers again, the number doubles
// with every round trip up to the level that worked before; above that it grows carefully.

/** What a request knows of the time when it was sent. */
export type Admission = {
  /** how many were in flight, itself included */
  level: number;
  round: number;
};

/** Above this share of refusals the server is in trouble. */
const TROUBLE = 0.25;
/** The share is a moving average over about this many answers. */
const MEMORY = 32;
/** When trouble goes on, this part of the requests is still sent; when it is over, this part of the level is tried. */
const SHRINK = 1 / 8;
const RESTART = 1 / 4;
const FIRST_PAUSE_MS = 250;
const MAX_PAUSE_MS = 15_000;
/** So a pause is at most half as long as the trouble has lasted. */
const PAUSE_GROWTH = 1.5;
const SLOWEST = 1 / 16;

export class Concurrency {
  #maximum: number;
  #cap: number;
  /** the level that worked, once that is known: up to it the number doubles */
  #good = Number.POSITIVE_INFINITY;
  /** the highest levels at which a request was sent, and accepted */
  #sent = 0;
  #accepted = 0;
  /** how far the number has come since the last trouble, while it is on its way back to the good level */
  #climbed: number | undefined;
  /** places gained per round trip above the good level */
  #pace = 1;
  #successes = 0;
  /** successes that still count since all places were taken */
  #allowance = 0;
  #refusals = 0;
  /** counts the times of trouble, and what was sent and refused since the last: older requests say nothing new */
  #round = { number: 0, sent: 0, refused: 0 };
  #inTrouble = false;
  /** how many are sent at least: more than one after a pause that the server named */
  #floor = 1;
  #pauseMs = FIRST_PAUSE_MS;

  constructor(maximum: number) {
    this.#maximum = maximum;
    this.#cap = maximum;
  }

  get cap(): number {
    return Math.floor(this.#cap);
  }

  tighten(maximum: number): void {
    this.#maximum = Math.min(this.#maximum, maximum);
    this.#cap = Math.min(this.#cap, this.#maximum);
  }

  admit(inFlight: number): Admission {
    this.#round.sent++;
    this.#sent = Math.max(this.#sent, inFlight);
    if (inFlight >= this.cap) this.#allowance = this.cap;
    return { level: inFlight, round: this.#round.number };
  }

  succeed({ level, round }: Admission): void {
    this.#refusals -= this.#refusals / MEMORY;
    if (this.#inTrouble && round === this.#round.number) this.#recover();
    this.#accepted = Math.max(this.#accepted, level);
    // places that nobody needs prove nothing
    if (!this.#inTrouble && this.#cap < this.#maximum && this.#allowance-- > 0) this.#grow();
  }

  /**
   * Milliseconds for which nothing should be sent, if the server is in trouble. `others` are still in flight;
   * `told`: the server names a pause itself.
   */
  refuse({ round }: Admission, others: number, told = false): number | undefined {
    this.#refusals += (1 - this.#refusals) / MEMORY;
    this.#cap = Math.max(this.#floor, Math.min(this.#cap, others));
    if (others >= this.cap) this.#allowance = this.cap;
    this.#successes = 0;
    this.#pace = Math.max(SLOWEST, Math.min(1, this.#pace) / 2);
    if (round !== this.#round.number) return undefined;
    this.#round.refused++;
    if (this.#inTrouble) {
      if (this.#round.refused * 2 < this.#round.sent) return undefined;
      this.#floor = 1;
      this.#cap = Math.max(1, this.#cap * SHRINK);
    } else {
      if (this.#refusals < TROUBLE && this.cap > 1) return undefined;
      this.#inTrouble = true;
      if (told) this.#floor = this.#restart();
      // trouble at the good level may pass, trouble below it shows that the level is not good any more
      const proven = Math.min(this.#good, this.#climbed ?? this.#good) - 1;
      if (this.#good < Number.POSITIVE_INFINITY) this.#good = Math.max(1, Math.ceil(this.#good / 2), proven);
    }
    this.#round = { number: this.#round.number + 1, sent: 0, refused: 0 };
    const pause = this.#pauseMs;
    this.#pauseMs = Math.min(MAX_PAUSE_MS, pause * PAUSE_GROWTH);
    return pause;
  }

  #recover(): void {
    // if nothing but this one got through, the server refused everything, and that says nothing about a level
    if (this.#good === Number.POSITIVE_INFINITY && this.#accepted > 0) this.#good = this.#accepted;
    this.#inTrouble = false;
    this.#refusals = 0;
    this.#floor = 1;
    this.#pauseMs = FIRST_PAUSE_MS;
    this.#cap = Math.max(this.#cap, this.#restart());
    this.#climbed = this.cap;
  }

  #restart(): number {
    return Math.ceil(Math.min(this.#good, this.#sent, this.#maximum) * RESTART);
  }

  #grow(): void {
    if (this.#cap < this.#good) {
      this.#cap = Math.min(this.#cap + 1, this.#good, this.#maximum);
      if (this.#climbed !== undefined) this.#climbed = Math.max(this.#climbed, this.cap);
      return;
    }
    this.#climbed = undefined;
    this.#cap = Math.min(this.#cap + this.#pace / this.#cap, this.#maximum);
    if (++this.#successes < this.#cap) return;
    this.#successes = 0;
    this.#good = this.cap;
    this.#pace = Math.min(this.#pace * 2, Math.max(1, this.#cap / 4));
  }
}
