// What everything in a run shares: its settings, its store, its clock, its signals, and its watchers.
import type { ResolvedRun } from "../config/index.ts";
import { type Clock, onAbort, type RunEvent, timestamp } from "../core/index.ts";
import type { Telemetry } from "../telemetry/index.ts";
import type { CallsInFlight } from "./calls-in-flight.ts";
import type { RolloutStore } from "./store.ts";

/** People read the first few; the rest is in `failures.jsonl`. */
const MAX_NOTED = 20;

export class RunContext {
  readonly run: ResolvedRun;
  /** where what happens is recorded */
  readonly store: RolloutStore;
  readonly clock: Clock;
  readonly calls: CallsInFlight;
  /** set: no further entry is begun */
  readonly park: AbortSignal;
  /** set: leave at once */
  readonly abort: AbortSignal;
  /** spans, if they are asked for */
  readonly telemetry: Telemetry | undefined;
  readonly #watch: (event: RunEvent) => void;
  readonly #noted = new Set<string>();

  constructor(
    parts: Pick<RunContext, "run" | "store" | "clock" | "calls" | "park" | "abort"> & { telemetry?: Telemetry },
    watch: (event: RunEvent) => void,
  ) {
    this.run = parts.run;
    this.store = parts.store;
    this.clock = parts.clock;
    this.calls = parts.calls;
    this.park = parts.park;
    this.abort = parts.abort;
    this.telemetry = parts.telemetry;
    this.#watch = watch;
  }

  /** The result of the work, or undefined if the run is parked before there is one. */
  async unlessParked<T>(work: Promise<T>): Promise<T | undefined> {
    if (this.park.aborted) return undefined;
    let leave = () => {};
    const parked = new Promise<undefined>((resolve) => {
      leave = onAbort(this.park, () => resolve(undefined));
    });
    try {
      return await Promise.race([work, parked]);
    } finally {
      leave();
    }
  }

  /** Watchers see an event once it is safe in the store. */
  async record(event: RunEvent): Promise<void> {
    await this.store.record(event);
    this.#watch(event);
  }

  /** One line for people, which the journal does not keep. */
  readonly note = (message: string): void => {
    this.#watch({ type: "run-note", at: timestamp(this.clock), message });
  };

  /** The same, unless this run has said it already. */
  noteOnce(message: string): void {
    if (this.#noted.size >= MAX_NOTED || this.#noted.has(message)) return;
    this.#noted.add(message);
    this.note(message);
  }

  /** For events that no longer go into the journal because the run is being left at once. */
  tell(event: RunEvent): void {
    this.#watch(event);
  }
}
