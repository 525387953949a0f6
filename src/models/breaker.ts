// Notices an endpoint that fails the same way for everyone, keeps requests away from it for a while, and then lets one
// through as a probe. Periods grow; after several failed probes it gives the endpoint up.
import type { ModelFailure } from "./failure.ts";

const MIN_FAILURES = 20;
const MIN_ROLLOUTS = 3;
const FIRST_MS = 30_000;
const MAX_MS = 300_000;
const MAX_OPENINGS = 5;

export class Breaker {
  #same = { failure: "", count: 0, owners: new Set<string>() };
  #openings = 0;
  /** undefined while closed */
  #openUntil: number | undefined;
  #probing = false;

  get isClosed(): boolean {
    return this.#openUntil === undefined;
  }

  /** Whether waiting any longer is pointless. */
  get isGivenUp(): boolean {
    return this.#openings > MAX_OPENINGS;
  }

  /** Milliseconds until a request may start; infinite while a probe is running. */
  waitFor(now: number): number {
    if (this.#openUntil === undefined) return 0;
    return this.#probing ? Number.POSITIVE_INFINITY : Math.max(0, this.#openUntil - now);
  }

  /** A request starts: while open, it is the probe. */
  start(): { isProbe: boolean } {
    if (!this.isClosed) this.#probing = true;
    return { isProbe: this.#probing };
  }

  /** The endpoint answered. True if that ends an outage. */
  succeed(): boolean {
    const wasOpen = !this.isClosed;
    if (this.#same.count > 0) this.#same = { failure: "", count: 0, owners: new Set() };
    this.#openUntil = undefined;
    this.#probing = false;
    this.#openings = 0;
    return wasOpen;
  }

  /** Milliseconds for which the endpoint is now left alone, if this failure opens the breaker. */
  fail(error: ModelFailure, by: { owner: string; isProbe: boolean; now: number }): number | undefined {
    const failure = `${error.kind} ${error.status ?? ""}`;
    if (this.#same.failure !== failure) this.#same = { failure, count: 0, owners: new Set() };
    this.#same.count++;
    if (this.#same.owners.size < MIN_ROLLOUTS) this.#same.owners.add(by.owner);
    const trips = this.isClosed && this.#same.count >= MIN_FAILURES && this.#same.owners.size >= MIN_ROLLOUTS;
    if (!trips && !by.isProbe) return undefined;
    const milliseconds = Math.min(MAX_MS, FIRST_MS * 2 ** this.#openings);
    this.#openings++;
    this.#openUntil = by.now + milliseconds;
    this.#probing = false;
    return milliseconds;
  }

  /** The probe was abandoned: another request may be the probe. */
  abandonProbe(): void {
    this.#probing = false;
  }
}
