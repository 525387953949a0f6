// The calls that a run's rollouts are waiting for, models' and tools', oldest first: what takes long can be seen while it
// takes long.
import {
  type Clock,
  type Environment,
  type ModelClient,
  type ModelParty,
  type RolloutKey,
  rolloutId,
} from "../core/index.ts";
import { passOn } from "./replay.ts";

export type CallInFlight = {
  dataset: string;
  /** of the rollout */
  id: string;
  /** who is asked: a party's model, a tool, or tools that are being started */
  party?: ModelParty;
  model?: string;
  tool?: string;
  /** on a clock that only runs forward, as `endedAt` */
  since: number;
  endedAt?: number;
};

type Placed = { call: CallInFlight; at: number };
type Asked = Pick<CallInFlight, "party" | "model" | "tool">;

/** Younger calls are not listed. */
const LISTED_MS = 5000;
const MAX_LISTED = 100;

export class CallsInFlight {
  readonly #clock: Clock;
  /** in no order: the place of one that ends is taken by the last */
  readonly #calls: Placed[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Those that have taken some seconds already; `now` is on the clock of their `since`. */
  list(): { now: number; calls: CallInFlight[] } {
    const now = this.#clock.elapsed();
    const slow = this.#calls.filter(({ call }) => now - call.since >= LISTED_MS).map(({ call }) => call);
    return { now, calls: slow.sort((a, b) => a.since - b.since).slice(0, MAX_LISTED) };
  }

  async during<T>(key: RolloutKey, asked: Asked, work: () => Promise<T>): Promise<T> {
    const call: CallInFlight = { dataset: key.dataset, id: rolloutId(key), ...asked, since: this.#clock.elapsed() };
    const placed = { call, at: this.#calls.length };
    this.#calls.push(placed);
    try {
      return await work();
    } finally {
      call.endedAt = this.#clock.elapsed();
      this.#remove(placed);
    }
  }

  #remove({ at }: Placed): void {
    const last = this.#calls.pop() as Placed;
    if (last.at === at) return;
    last.at = at;
    this.#calls[at] = last;
  }

  watchModel(client: ModelClient, key: RolloutKey, party: CallInFlight["party"]): ModelClient {
    const { id } = client;
    const asked = { party, model: id };
    return { id, complete: (request, signal) => this.during(key, asked, () => client.complete(request, signal)) };
  }

  watchTools(environment: Environment, key: RolloutKey): Environment {
    return {
      ...passOn(environment),
      call: (call, signal) => this.during(key, { tool: call.name }, () => environment.call(call, signal)),
    };
  }
}
