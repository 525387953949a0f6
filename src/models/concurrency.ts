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
  /** places gained per round trip above the good level */
  #pace = 1;
  #successes = 0;
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
    return { level: inFlight, round: this.#round.number };
  }

  succeed({ level, round }: Admission): void {
    this.#refusals -= this.#refusals / MEMORY;
    if (this.#inTrouble && round === this.#round.number) this.#recover();
    this.#accepted = Math.max(this.#accepted, level);
    // places that nobody needs prove nothing
    if (!this.#inTrouble && this.#cap < this.#maximum && level * 2 >= this.#cap) this.#grow();
  }

  /**
   * Milliseconds for which nothing should be sent, if the server is in trouble. `others` are still in flight;
   * `told`: the server names a pause itself.
   */
  refuse({ round }: Admission, others: number, told = false): number | undefined {
    this.#refusals += (1 - this.#refusals) / MEMORY;
    this.#cap = Math.max(this.#floor, Math.min(this.#cap, others));
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
      this.#learn();
      if (told) this.#floor = this.#restart();
      if (this.#good < Number.POSITIVE_INFINITY)
        this.#good = Math.max(Math.ceil(this.#good / 2), Math.min(this.#good, others));
    }
    this.#round = { number: this.#round.number + 1, sent: 0, refused: 0 };
    const pause = this.#pauseMs;
    this.#pauseMs = Math.min(MAX_PAUSE_MS, pause * PAUSE_GROWTH);
    return pause;
  }

  #recover(): void {
    this.#learn();
    this.#inTrouble = false;
    this.#refusals = 0;
    this.#floor = 1;
    this.#pauseMs = FIRST_PAUSE_MS;
    this.#cap = Math.max(this.#cap, this.#restart());
  }

  #restart(): number {
    return Math.ceil(Math.min(this.#good, this.#sent, this.#maximum) * RESTART);
  }

  /** Without any success there is nothing to learn: the server refused everything, whatever the level. */
  #learn(): void {
    if (this.#good === Number.POSITIVE_INFINITY && this.#accepted > 0) this.#good = this.#accepted;
  }

  #grow(): void {
    if (this.#cap < this.#good) {
      this.#cap = Math.min(this.#cap + 1, this.#good, this.#maximum);
      return;
    }
    this.#cap = Math.min(this.#cap + this.#pace / this.#cap, this.#maximum);
    if (++this.#successes < this.#cap) return;
    this.#successes = 0;
    this.#good = this.cap;
    this.#pace = Math.min(this.#pace * 2, Math.max(1, this.#cap / 4));
  }
}
