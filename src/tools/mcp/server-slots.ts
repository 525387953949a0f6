// How many tool servers a run may have at once, over all its datasets. What is not in use makes room for what is needed,
// the longest unused first, and ends by itself after a while. A rollout gets all its servers in one go, in order of
// arrival, so that no two rollouts wait for each other.
import { raceAbort } from "../../core/index.ts";

/** A server that is there and not in use. */
export type Resting = { close(): Promise<void> };

/** One server that a rollout wants. */
export type Wish<T> = {
  /** what it would use: a resting server, or one in use (`true`); undefined if another must start */
  ready(): Resting | true | undefined;
  /** Wakes or starts it, at once. */
  take(): T;
};

export type SlotOptions = {
  /** rollouts at once; each may have all servers of its dataset */
  workers?: number;
  /** servers that may start at the same time: each takes a processor for a third of a second */
  startsAtOnce?: number;
  idleMs?: number;
};

type Waiter = { wishes: Wish<unknown>[]; grant(): void };

export class ServerSlots {
  /** Runs the work that starts a server, as soon as few enough others are starting. */
  readonly start: <T>(work: () => Promise<T>) => Promise<T>;
  readonly workers: number;
  readonly #idleMs: number;
  #perRollout = 1;
  #used = 0;
  #closing = 0;
  /** in order of last use */
  readonly #resting = new Map<Resting, NodeJS.Timeout | undefined>();
  #queue: Waiter[] = [];

  constructor({ workers = Number.POSITIVE_INFINITY, startsAtOnce = 8, idleMs = 60_000 }: SlotOptions = {}) {
    this.workers = workers;
    this.#idleMs = idleMs;
    this.start = limitConcurrency(startsAtOnce);
  }

  /** A rollout may want this many. */
  expect(servers: number): void {
    this.#perRollout = Math.max(this.#perRollout, servers);
  }

  async take<T>(wishes: Wish<T>[], signal: AbortSignal): Promise<T[]> {
    signal.throwIfAborted();
    let taken: T[] = [];
    let waiter: Waiter | undefined;
    const granted = new Promise<void>((resolve) => {
      waiter = {
        wishes,
        grant: () => {
          taken = wishes.map((wish) => wish.take());
          resolve();
        },
      };
      this.#queue.push(waiter);
    });
    this.#pump();
    await raceAbort(granted, signal).finally(() => {
      this.#queue = this.#queue.filter((each) => each !== waiter);
    });
    return taken;
  }

  /** A server started outside of `take`: in place of one that failed. */
  add(): void {
    this.#used++;
  }

  /** A server is gone. */
  free(): void {
    this.#used--;
    this.#pump();
  }

  /** `kept`: it ends only to make room. */
  rest(server: Resting, { kept = false } = {}): void {
    const timer = kept ? undefined : setTimeout(() => this.#end(server), this.#idleMs).unref();
    this.#resting.set(server, timer);
    this.#pump();
  }

  wake(server: Resting): void {
    clearTimeout(this.#resting.get(server));
    this.#resting.delete(server);
  }

  /** A server is being ended: it will soon make room. */
  async ending(gone: Promise<unknown>): Promise<void> {
    this.#closing++;
    await gone.catch(() => {}).finally(() => this.#closing--);
    this.#pump();
  }

  /** When descriptors are short. */
  endResting(): void {
    for (const server of [...this.#resting.keys()]) this.#end(server);
  }

  #end(server: Resting): void {
    this.wake(server);
    void this.ending(server.close());
  }

  #pump(): void {
    for (let next = this.#queue[0]; next; next = this.#queue[0]) {
      const ready = next.wishes.map((wish) => wish.ready());
      const missing = ready.filter((each) => each === undefined).length;
      const excess = this.#used + missing - this.workers * this.#perRollout;
      if (missing > 0 && excess > 0) {
        const others = [...this.#resting.keys()].filter((server) => !ready.includes(server));
        for (const server of others.slice(0, Math.max(0, excess - this.#closing))) this.#end(server);
        return;
      }
      this.#queue.shift();
      this.#used += missing;
      next.grant();
    }
  }
}

/** Runs at most this many pieces of work at once, in order of arrival. */
function limitConcurrency(atOnce: number): <T>(work: () => Promise<T>) => Promise<T> {
  let free = atOnce;
  const waiting: (() => void)[] = [];
  return async (work) => {
    if (free > 0) free--;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else free++;
    }
  };
}
