// What a whole run may cost. Once it is spent, no new work is begun; calls under way may finish, so it can be exceeded by
// what is in flight. Earlier parts of the run count.
import type { RunEvent, Usage } from "../core/index.ts";
import { summarise } from "../runs/index.ts";

export type RunBudget = { costUsd?: number; tokens?: number };

export class BudgetWatch {
  readonly #budget: RunBudget;
  readonly #stop = new AbortController();
  #costUsd = 0;
  #tokens = 0;

  /** What earlier parts of the run came to: their records, and what was paid for rollouts that have none yet. */
  constructor(budget: RunBudget, outputs: readonly string[], paidBefore: () => Usage) {
    this.#budget = budget;
    if (budget.costUsd === undefined && budget.tokens === undefined) return;
    for (const { cost_usd, input_tokens, output_tokens } of outputs.map(summarise)) {
      this.#costUsd += cost_usd;
      this.#tokens += input_tokens + output_tokens;
    }
    this.#count(paidBefore());
  }

  /** Set once the budget is spent. */
  get spent(): AbortSignal {
    return this.#stop.signal;
  }

  onEvent(event: RunEvent): void {
    if (event.type !== "entry-end" || event.entry.type === "tool-result") return;
    this.#count(event.entry.usage);
  }

  #count({ costUsd, inputTokens, outputTokens }: Usage): void {
    this.#costUsd += costUsd;
    this.#tokens += inputTokens + outputTokens;
    this.#check();
  }

  #check(): void {
    const { costUsd = Number.POSITIVE_INFINITY, tokens = Number.POSITIVE_INFINITY } = this.#budget;
    if (this.#costUsd >= costUsd || this.#tokens >= tokens) this.#stop.abort(new Error("the run's budget is spent"));
  }
}
