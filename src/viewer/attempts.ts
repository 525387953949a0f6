// Where the journal has what was recorded of each rollout's latest attempt: the line of its start, one for each entry, and
// the line of its end. The lines themselves stay on disk.
import type { RolloutKey, RolloutStart } from "../core/index.ts";
import { Places } from "../files/index.ts";
import { type JournalLine, journalKeyText, type RecordedAttempt, readAttempt } from "../runs/index.ts";

export class Attempts {
  readonly #places = new Places();
  #file = "";
  /** the highest number of a rollout */
  most = 0;

  has(key: RolloutKey): boolean {
    return this.#places.has(journalKeyText(key));
  }

  take({ type, key, extent, event }: JournalLine, file: string): void {
    this.#file = file;
    if (type === "rollout-start") {
      const { continued, rollout } = event() as RolloutStart;
      this.most = Math.max(this.most, rollout);
      this.#places.keep(key, continued > 0 ? continued + 1 : 0);
      if (!this.#places.has(key)) this.#places.add(key, extent);
    } else if ((type === "entry-end" || type === "rollout-end") && this.#places.has(key)) this.#places.add(key, extent);
  }

  read(key: RolloutKey): RecordedAttempt {
    const places = this.#places.of(journalKeyText(key));
    return places.length === 0 ? { entries: [] } : readAttempt(this.#file, places);
  }

  clear(): void {
    this.#places.clear();
    this.most = 0;
  }
}
