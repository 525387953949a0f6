// A first prompt that does not fit is a setting to mend if no other one fits either, and that rollout's own end if one
// does. The first calls of other rollouts show which: until then the rollout is put off.
import type { ModelReply, RequestOrigin } from "../core/index.ts";
import { ModelFailure } from "./failure.ts";

/** Nobody knows yet whether this prompt is too long or all of them are: to be played again after the others. */
export class PromptInDoubt extends Error {
  override name = "PromptInDoubt";
}

/** Prompts of this many queries that do not fit, with none that does, are enough. */
const ENOUGH = 10;

/** First prompts of one party of a dataset, none of which has been answered so far. */
class Doubt {
  inFlight = 0;
  readonly queries = new Set<string>();
  readonly rollouts = new Set<string>();
  #waiting: (() => void)[] = [];

  /** Once a prompt did not fit, the next goes only after those under way were answered. */
  get isTaken(): boolean {
    return this.rollouts.size > 0 && this.inFlight > 0;
  }

  change(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  leave(): void {
    this.inFlight--;
    for (const wake of this.#waiting.splice(0)) wake();
  }
}

type Refuse = (error: ModelFailure) => Error;

export class FirstPrompts {
  readonly #answered = new Set<string>();
  readonly #doubts = new Map<string, Doubt>();
  readonly #played = new Set<string>();

  /** This dataset was played before: a few prompts that do not fit are their rollouts' own. */
  trust(dataset: string): void {
    this.#played.add(dataset);
  }

  /** Makes a call; `refuse` makes the error that stops everything. */
  watch(
    { model, origin }: { model: string; origin: RequestOrigin },
    call: () => Promise<ModelReply>,
    refuse: Refuse,
  ): Promise<ModelReply> {
    const { dataset, party } = origin;
    const kind = `${dataset}\n${party}\n${model}`;
    const isClear = party === "judge" || party === "summary" || this.#answered.has(kind);
    return isClear ? call() : this.#watch(kind, { origin, call, refuse });
  }

  async #watch(
    kind: string,
    { origin, call, refuse }: { origin: RequestOrigin; call: () => Promise<ModelReply>; refuse: Refuse },
  ): Promise<ModelReply> {
    const { position } = origin;
    const doubt = this.#doubts.get(kind) ?? new Doubt();
    this.#doubts.set(kind, doubt);
    if (position === 0) while (doubt.isTaken && !this.#answered.has(kind)) await doubt.change();
    doubt.inFlight++;
    try {
      const reply = await call();
      this.#answered.add(kind);
      this.#doubts.delete(kind);
      return reply;
    } catch (error) {
      const isRefused = error instanceof ModelFailure && error.kind === "context-overflow" && error.status !== 200;
      if (!isRefused || position > 0 || this.#answered.has(kind)) throw error;
      const verdict = this.#judge(doubt, origin);
      throw verdict === "setup" ? refuse(error) : verdict === "own" ? error : new PromptInDoubt(error.message);
    } finally {
      doubt.leave();
    }
  }

  #judge(doubt: Doubt, { dataset, queryId, rollout }: RequestOrigin): "setup" | "own" | "unknown" {
    const name = `${queryId}\n${rollout}`;
    const isAgain = doubt.rollouts.has(name);
    doubt.rollouts.add(name);
    doubt.queries.add(queryId);
    const isLast = doubt.inFlight === 1;
    if (isLast && doubt.queries.size >= ENOUGH) return "setup";
    if (!isAgain) return "unknown";
    return this.#played.has(dataset) ? "own" : "setup";
  }
}
