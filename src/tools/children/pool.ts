// The processes of a run that serve a dataset's servers: started when needed, each serves many rollouts, and none sees
// more of this process's environment than it needs to run. They end with the pool, and with this process, however it ends.
import { availableParallelism } from "node:os";
import { messageOf, RolloutError } from "../../core/index.ts";
import { isOutOfDescriptors, withDescriptors } from "../../files/index.ts";
import { type Launch, ServerChild } from "./child.ts";

export type ChildPoolOptions = {
  /**
   * Number of processes; default: one per core, at most four. `auto`: one for each domain, and more, up to one per core,
   * while calls wait.
   */
  size?: PoolSize;
  /** With `auto`: rollouts have a time limit, so they share fewer processes, lest a call that hangs uses up others' time. */
  timed?: boolean;
  /** milliseconds for one call */
  callTimeLimit?: number;
  /** milliseconds for loading a domain's servers */
  loadTimeLimit?: number;
  /** told once, at the end, how much servers wrote that was dropped */
  notice?: (message: string) => void;
  /** one line for people: descriptors are waited for */
  onShortage?: (message: string) => void;
};

export type PoolSize = number | "auto";

export const CALL_SECONDS = 30;
/** With `auto`: a session whose first call would wait longer than this gets another process. */
const PATIENCE_MS = 50;
/** A request that takes longer than this may hang: no further session is put behind it. */
const HANGS_MS = 1000;
/** So many requests may wait in a process before it is known how long calls take there. */
const MAX_UNMEASURED = 8;

export class ChildPool {
  /** what its processes are called in messages */
  readonly what: string;
  readonly callTimeLimit: number;
  readonly loadTimeLimit: number;
  readonly #findLaunch: () => Promise<Launch>;
  readonly #size: number;
  readonly #growsWithLoad: boolean;
  /** so many are started before sessions share one */
  readonly #least: number;
  readonly #notice: (message: string) => void;
  readonly #onShortage: ((message: string) => void) | undefined;
  readonly #children = new Set<ServerChild>();
  /** name of an open session → the domain that it belongs to */
  readonly #sessions = new Map<unknown, string>();
  /** domain → lines that were no replies */
  readonly #dropped = new Map<string, number>();
  /** domain → whether it could be loaded */
  readonly #loads = new Map<string, Promise<boolean>>();
  #launch: Promise<Launch> | undefined;
  #closed = false;

  constructor(what: string, findLaunch: () => Promise<Launch>, options: ChildPoolOptions) {
    this.what = what;
    this.#findLaunch = findLaunch;
    const few = Math.min(availableParallelism(), 4);
    const { size = few, timed } = options;
    this.#growsWithLoad = size === "auto";
    this.#size = size === "auto" ? availableParallelism() : size;
    this.#least = timed ? few : 1;
    this.#notice = options.notice ?? (() => {});
    this.#onShortage = options.onShortage;
    this.callTimeLimit = options.callTimeLimit ?? CALL_SECONDS * 1000;
    this.loadTimeLimit = options.loadTimeLimit ?? 120_000;
  }

  /** Throws a UsageError if nothing here can run the servers. */
  async ready(): Promise<void> {
    await this.#launcher();
  }

  /** In the process with the fewest sessions, or in a new one while more are allowed and none is idle. */
  async takeSeat(domain: string): Promise<ServerChild> {
    const launch = await this.#launcher();
    for (let child = this.#findUnmeasured(domain); child; child = this.#findUnmeasured(domain)) await child.progress();
    return withDescriptors(() => this.#findSeat(launch, domain), { onWait: this.#onShortage });
  }

  /** Whoever asks for a domain that somebody else is loading waits for that; if it fails, each tries it alone. */
  async loadOnce(domain: string, load: () => Promise<void>): Promise<void> {
    this.#mustBeOpen();
    const known = this.#loads.get(domain);
    if (known && (await known)) return;
    const loading = load();
    const isLoaded = loading.then(
      () => true,
      () => this.#loads.delete(domain) && false,
    );
    if (!known) this.#loads.set(domain, isLoaded);
    await loading;
  }

  #findSeat(launch: Launch, domain: string): ServerChild {
    this.#mustBeOpen();
    const child = this.#findIdle(domain) ?? this.#startOrShare(launch);
    child.expect();
    child.domains.add(domain);
    return child;
  }

  #mustBeOpen(): void {
    if (this.#closed)
      throw new RolloutError("infrastructure", `The ${this.what} tools were closed`, { retryable: true });
  }

  /** With `auto`, one is idle enough for a domain that it serves if calls do not wait there. */
  #findIdle(domain: string): ServerChild | undefined {
    const living = this.#living();
    const usualMs = Math.max(0, ...living.map(({ meanCallMs = 0 }) => meanCallMs));
    const waitIn = ({ waiting, meanCallMs = usualMs }: ServerChild) => waiting * meanCallMs;
    const isIdle = (child: ServerChild) => waitIn(child) <= PATIENCE_MS && child.servingMs <= HANGS_MS;
    const own = living.find((child) => child.domains.has(domain) && isIdle(child));
    const shares = this.#growsWithLoad && living.length >= this.#least;
    return shares && own ? own : living.find((child) => child.sessions === 0);
  }

  /** With `auto`, the only process of a domain, if nobody knows yet whether it can serve another session at once. */
  #findUnmeasured(domain: string): ServerChild | undefined {
    if (!this.#growsWithLoad) return undefined;
    const own = this.#living().filter((child) => child.domains.has(domain));
    const [only] = own;
    return own.length === 1 && only?.meanCallMs === undefined && (only?.waiting ?? 0) > MAX_UNMEASURED
      ? only
      : undefined;
  }

  #startOrShare(launch: Launch): ServerChild {
    const living = this.#living();
    const [fewest] = living;
    return fewest && living.length >= this.#size ? fewest : this.#start(launch, fewest);
  }

  /** Those with the fewest sessions first. */
  #living(): ServerChild[] {
    return [...this.#children].filter((child) => !child.lost).sort((a, b) => a.sessions - b.sessions);
  }

  /** A name unique among open sessions; from the seed, so that a replay gets the same one. */
  nameSession(seed: number, domain: string): string {
    let name = `rollout-${seed}`;
    for (let n = 2; this.#sessions.has(name); n++) name = `rollout-${seed}-${n}`;
    this.#sessions.set(name, domain);
    return name;
  }

  forgetSession(name: string): void {
    this.#sessions.delete(name);
  }

  processIds(): number[] {
    return [...this.#children].filter((child) => !child.lost).flatMap((child) => child.pid ?? []);
  }

  /** Ends every process at once. Servers keep their state in memory, so there is nothing to wait for. */
  async close(): Promise<void> {
    const first = !this.#closed;
    this.#closed = true;
    for (const child of this.#children) child.kill("was ended with its pool");
    await Promise.all([...this.#children].map((child) => child.gone));
    if (!first || this.#dropped.size === 0) return;
    const counts = [...this.#dropped].map(([domain, count]) => `${domain} ${count}`).join(", ");
    this.#notice(`Servers wrote lines to the channel of their replies, which were dropped: ${counts}`);
  }

  #launcher(): Promise<Launch> {
    this.#launch ??= this.#findLaunch();
    return this.#launch;
  }

  /** If no further process can be started for want of descriptors, `other` has to do. */
  #start(launch: Launch, other: ServerChild | undefined): ServerChild {
    let child: ServerChild;
    let domain = `a ${this.what} process`; // until it is known whose server wrote
    try {
      child = new ServerChild(launch, (session) => {
        domain = this.#sessions.get(session) ?? domain;
        this.#dropped.set(domain, (this.#dropped.get(domain) ?? 0) + 1);
      });
    } catch (cause) {
      if (other && isOutOfDescriptors(cause)) return other;
      const message = `A ${this.what} process could not be started: ${messageOf(cause)}`;
      throw new RolloutError("infrastructure", message, { retryable: true, cause });
    }
    this.#children.add(child);
    child.gone.then(() => this.#children.delete(child)).catch(() => {});
    return child;
  }
}
