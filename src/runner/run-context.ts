// What everything in a run shares: its settings, its folder, its clock, its signals, and its watchers.
import type { ResolvedRun } from "../config/index.ts";
import { type Clock, type RunEvent, timestamp } from "../core/index.ts";
import type { RunFolder } from "../runs/index.ts";

/** People read the first few; the rest is in `failures.jsonl`. */
const MAX_NOTED = 20;

export class RunContext {
  readonly run: ResolvedRun;
  readonly folder: RunFolder;
  readonly clock: Clock;
  /** set: no further entry is begun */
  readonly park: AbortSignal;
  /** set: leave at once */
  readonly abort: AbortSignal;
  readonly #watch: (event: RunEvent) => void;
  readonly #noted = new Set<string>();

  constructor(
    parts: Pick<RunContext, "run" | "folder" | "clock" | "park" | "abort">,
    watch: (event: RunEvent) => void,
  ) {
    this.run = parts.run;
    this.folder = parts.folder;
    this.clock = parts.clock;
    this.park = parts.park;
    this.abort = parts.abort;
    this.#watch = watch;
  }

  /** Watchers see an event once it is safe in the journal. */
  async record(event: RunEvent): Promise<void> {
    await this.folder.record(event);
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
