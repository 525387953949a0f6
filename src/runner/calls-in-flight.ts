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
type Asked = Omit<CallInFlight, "since" | "endedAt">;

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

  /** While some work is under way for a rollout. */
  async during<T>(key: RolloutKey, work: Promise<T>): Promise<T> {
    const placed = this.#add({ dataset: key.dataset, id: rolloutId(key) });
    try {
      return await work;
    } finally {
      this.#remove(placed);
    }
  }

  #add({ dataset, id, party, model, tool }: Asked): Placed {
    const call = { dataset, id, party, model, tool, since: this.#clock.elapsed(), endedAt: undefined };
    const placed = { call, at: this.#calls.length };
    this.#calls.push(placed);
    return placed;
  }

  #remove({ call, at }: Placed): void {
    call.endedAt = this.#clock.elapsed();
    const last = this.#calls.pop() as Placed;
    if (last.at === at) return;
    last.at = at;
    this.#calls[at] = last;
  }

  watchModel(client: ModelClient, key: RolloutKey, party: CallInFlight["party"]): ModelClient {
    const asked = { dataset: key.dataset, id: rolloutId(key), party, model: client.id };
    return {
      id: client.id,
      complete: async (request, signal) => {
        const placed = this.#add(asked);
        try {
          return await client.complete(request, signal);
        } finally {
          this.#remove(placed);
        }
      },
    };
  }

  watchTools(environment: Environment, key: RolloutKey): Environment {
    const { dataset } = key;
    const id = rolloutId(key);
    return passOn(environment, async (call, signal) => {
      const placed = this.#add({ dataset, id, tool: call.name });
      try {
        return await environment.call(call, signal);
      } finally {
        this.#remove(placed);
      }
    });
  }
}
