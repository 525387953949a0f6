// What a whole run may cost. Once it is spent, no new work is begun; calls in flight may finish and exceed it.
// Earlier parts of the run count.
import type { FullConfig } from "../config/index.ts";
import { knownCost, type RunEvent, readCost, type Usage } from "../core/index.ts";
import { summarise } from "../runs/index.ts";

export class BudgetWatch {
  readonly #maxCost: number;
  readonly #maxTokens: number;
  readonly #stop = new AbortController();
  #costUsd = 0;
  #tokens = 0;

  /** `before`: the records of earlier parts of the run, and what was paid for rollouts that have no record yet. */
  constructor(config: FullConfig, before: { outputs: readonly string[]; unfinished: () => Usage }) {
    this.#maxCost = config.max_cost ?? Number.POSITIVE_INFINITY;
    this.#maxTokens = config.max_tokens_total ?? Number.POSITIVE_INFINITY;
    if (config.max_cost === undefined && config.max_tokens_total === undefined) return;
    for (const summary of before.outputs.map(summarise)) {
      this.#costUsd += knownCost(readCost(summary));
      this.#tokens += summary.input_tokens + summary.output_tokens + summary.scripted_tokens;
    }
    this.#count(before.unfinished());
  }

  /** What the whole run has used so far. */
  get used(): { costUsd: number; tokens: number } {
    return { costUsd: this.#costUsd, tokens: this.#tokens };
  }

  /** Set once the budget is spent. */
  get spent(): AbortSignal {
    return this.#stop.signal;
  }

  onEvent(event: RunEvent): void {
    if (event.type === "entry-end" && event.entry.usage) this.#count(event.entry.usage);
  }

  /** Scripted tokens count here, so that a budget can be rehearsed. */
  #count(usage: Usage): void {
    this.#costUsd += knownCost(usage);
    this.#tokens += usage.inputTokens + usage.outputTokens;
    if (this.#costUsd >= this.#maxCost || this.#tokens >= this.#maxTokens)
      this.#stop.abort(new Error("the run's budget is spent"));
  }
}
