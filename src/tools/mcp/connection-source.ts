// Where a rollout's connection to one server comes from, and where it goes afterwards: the kinds of isolation.
import { setMaxListeners } from "node:events";
import { systemClock } from "../../core/index.ts";
import type { ResolvedServer } from "./config.ts";
import { type McpConnection, ServerTrouble } from "./connection.ts";
import type { ServerWorld } from "./places.ts";
import type { Resting, ServerSlots, Wish } from "./server-slots.ts";

/** Waits before a server that died while starting is tried again. */
const RETRY_MS = [200, 600, 1800];

type Open = (world: ServerWorld, signal: AbortSignal) => Promise<McpConnection>;
/** `isReady` is false if it could not be brought back to its initial state */
type Idle = Resting & { connection: McpConnection; key: string; isReady: Promise<boolean> };
type Shared = { users: number; current: Promise<McpConnection> | undefined; resting?: Resting };

export class ConnectionSource {
  readonly server: ResolvedServer;
  readonly #open: Open;
  readonly #slots: ServerSlots;
  readonly #closing = new AbortController();
  /** every connection that is open */
  readonly #live = new Set<McpConnection>();
  readonly #background = new Set<Promise<unknown>>();
  /** pool: unused connections, in their initial state */
  readonly #idle = new Set<Idle>();
  /** the one connection for all */
  #shared: Shared | undefined;
  /** as the first connection showed */
  #first: { hasSession: boolean; sharesState: boolean } | undefined;
  #called = false;

  constructor(server: ResolvedServer, open: Open, slots: ServerSlots) {
    this.server = server;
    this.#open = open;
    this.#slots = slots;
    setMaxListeners(Number.POSITIVE_INFINITY, this.#closing.signal); // of all that start, or are reset, at once
  }

  /** True if rollouts may see each other's writes: no call is made twice. Known once a connection was open. */
  get sharesState(): boolean {
    return this.server.isolation === "shared" || this.#first?.sharesState === true;
  }

  /** It is at a URL and gives no session ids: whatever it remembers, it remembers for everybody. */
  get lacksSessions(): boolean {
    return this.#first?.hasSession === false;
  }

  /** A connection in its initial state, unless the state is shared. What is taken must be given back. */
  wish(world: ServerWorld): Wish<Promise<McpConnection>> {
    return {
      ready: () => (this.#isSingle() ? this.#shared && (this.#shared.resting ?? true) : this.#findIdle(world)),
      take: () => (this.#isSingle() ? this.#takeShared(world) : this.#takeOwn(world)),
    };
  }

  /** Returns at once; the server is reset or ended in the background. */
  giveBack(connection: McpConnection, { used, world }: { used: boolean; world: ServerWorld }): void {
    this.#called ||= used;
    if (this.#isSingle()) {
      void this.#inBackground(this.#leaveShared(connection));
      return;
    }
    const { isolation, resetTool } = this.server;
    const keep = isolation === "pool" && !connection.lost && !this.#closing.signal.aborted;
    if (keep && !used) this.#rest(connection, world, Promise.resolve(true));
    else if (keep && resetTool !== undefined) this.#rest(connection, world, this.#reset(connection, resetTool));
    else this.discard(connection);
  }

  /** Ends a failed connection: it is never handed out again. */
  discard(connection: McpConnection): void {
    void this.#inBackground(this.#slots.ending(this.#end(connection)));
  }

  /** Another connection in place of one that failed. */
  async replace(failed: McpConnection, world: ServerWorld): Promise<McpConnection> {
    if (this.#isSingle()) return this.#currentOf(this.#shared as Shared, world);
    return this.#startAfter(failed, world);
  }

  /** Ends every connection, used or not; resolves when no process is left. */
  async close(): Promise<void> {
    const { name } = this.server;
    this.#closing.abort(new ServerTrouble(name, `MCP server "${name}": the run is over`));
    for (const idle of this.#idle) this.#slots.wake(idle);
    if (this.#shared?.resting) this.#slots.wake(this.#shared.resting);
    while (this.#background.size > 0 || this.#live.size > 0) {
      await Promise.allSettled([...this.#background, ...Array.from(this.#live, (connection) => this.#end(connection))]);
    }
  }

  /** One connection for all. */
  #isSingle(): boolean {
    return this.sharesState && !this.server.hasPlaces;
  }

  #findIdle(world: ServerWorld): Idle | undefined {
    const key = keyOf(world);
    return [...this.#idle].find((idle) => this.server.resetTool !== undefined || idle.key === key);
  }

  #takeOwn(world: ServerWorld): Promise<McpConnection> {
    const idle = this.#findIdle(world);
    if (!idle) return this.#start(world);
    this.#slots.wake(idle);
    this.#idle.delete(idle);
    return idle.isReady.then((isReady) =>
      isReady && !idle.connection.lost ? idle.connection : this.#startAfter(idle.connection, world),
    );
  }

  /** A server that was started for one rollout and never called may be another's, if it was told of the same one. */
  #rest(connection: McpConnection, world: ServerWorld, isReady: Promise<boolean>): void {
    const close = () => {
      this.#idle.delete(idle);
      return this.#inBackground(this.#end(connection));
    };
    const idle: Idle = { connection, key: keyOf(world), isReady, close };
    this.#idle.add(idle);
    this.#slots.rest(idle);
  }

  /** Opened on first use and reopened when lost. */
  #takeShared(world: ServerWorld): Promise<McpConnection> {
    this.#shared ??= { users: 0, current: this.#start(world) };
    const shared = this.#shared;
    shared.users++;
    if (shared.resting) this.#slots.wake(shared.resting);
    shared.resting = undefined;
    return this.#currentOf(shared, world).catch(async (error) => {
      await this.#leaveShared();
      throw error;
    });
  }

  async #currentOf(shared: Shared, world: ServerWorld): Promise<McpConnection> {
    if (!shared.current) this.#slots.add();
    shared.current ??= this.#start(world);
    const { current } = shared;
    try {
      const connection = await current;
      if (!connection.lost) return connection;
      if (shared.current !== current) return this.#currentOf(shared, world); // another rollout reopened it
      shared.current = this.#startAfter(connection, world);
    } catch (error) {
      if (shared.current === current) shared.current = undefined; // the next one tries again
      throw error;
    }
    return this.#currentOf(shared, world);
  }

  /** The last one to leave lets it rest. A connection from before it was known that all share one is ended. */
  async #leaveShared(connection?: McpConnection): Promise<void> {
    const shared = this.#shared;
    const current = await shared?.current?.catch(() => undefined);
    if (connection && connection !== current && !connection.lost) this.discard(connection);
    if (!shared || this.server.isolation !== "shared" || --shared.users > 0) return;
    if (!current) {
      if (this.#shared === shared) this.#shared = undefined;
      return;
    }
    if (this.#closing.signal.aborted) return;
    shared.resting = {
      close: () => {
        if (this.#shared === shared) this.#shared = undefined;
        return this.#inBackground(this.#end(current));
      },
    };
    this.#slots.rest(shared.resting, { kept: this.#called });
  }

  /** Its slot is taken; if it does not start, it is free again. */
  #start(world: ServerWorld): Promise<McpConnection> {
    const starting = this.#startPatiently(world).then(
      (connection) => {
        this.#live.add(connection);
        this.#learn(connection);
        return connection;
      },
      (error) => {
        this.#slots.free();
        throw error;
      },
    );
    return this.#inBackground(starting);
  }

  async #startPatiently(world: ServerWorld): Promise<McpConnection> {
    const { signal } = this.#closing;
    for (const wait of RETRY_MS) {
      try {
        return await this.#open(world, signal);
      } catch (error) {
        if (!(error instanceof ServerTrouble) || !error.mayPass) throw error;
        await systemClock.sleep(wait, signal);
      }
    }
    return this.#open(world, signal);
  }

  #learn(connection: McpConnection): void {
    const { hasSession, sharesState } = connection;
    this.#first ??= { hasSession, sharesState };
    if (this.server.isolation !== "shared" && this.#isSingle())
      this.#shared ??= { users: 0, current: Promise.resolve(connection) };
    if (hasSession || !this.#first.hasSession) return;
    const { name } = this.server;
    this.discard(connection);
    throw new ServerTrouble(name, `MCP server "${name}" (start): gave no session id, as it did before`);
  }

  /** In the slot of one that failed, once that is gone. */
  async #startAfter(failed: McpConnection, world: ServerWorld): Promise<McpConnection> {
    await failed.close();
    if (!this.#live.delete(failed)) this.#slots.add();
    return this.#start(world);
  }

  async #end(connection: McpConnection): Promise<void> {
    await connection.close();
    if (this.#live.delete(connection)) this.#slots.free();
  }

  #reset(connection: McpConnection, tool: string): Promise<boolean> {
    const resetting = connection.call(tool, {}, { signal: this.#closing.signal }).then(
      (result) => !result.isError,
      () => false,
    );
    return this.#inBackground(resetting);
  }

  #inBackground<T>(work: Promise<T>): Promise<T> {
    const settled: Promise<unknown> = work.then(
      () => this.#background.delete(settled),
      () => this.#background.delete(settled),
    );
    this.#background.add(settled);
    return work;
  }
}

function keyOf({ dataset, query, rollout, seed }: ServerWorld): string {
  return JSON.stringify([dataset, query?.id, rollout, seed]);
}
