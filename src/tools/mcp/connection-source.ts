// Where a rollout's connection to one server comes from, and where it goes afterwards: the three kinds of isolation.
import type { ResolvedServer } from "./config.ts";
import { type McpConnection, ServerTrouble } from "./connection.ts";

export class ConnectionSource {
  readonly server: ResolvedServer;
  readonly #open: (signal: AbortSignal) => Promise<McpConnection>;
  readonly #closing = new AbortController();
  /** every connection that is open */
  readonly #live = new Set<McpConnection>();
  readonly #background = new Set<Promise<unknown>>();
  /** pool: unused connections, in their initial state or being reset to it; undefined if that failed */
  readonly #idle: Promise<McpConnection | undefined>[] = [];
  #shared: Promise<McpConnection> | undefined;

  constructor(server: ResolvedServer, open: (signal: AbortSignal) => Promise<McpConnection>) {
    this.server = server;
    this.#open = open;
  }

  /** In its initial state, unless the server is shared. */
  async borrow(): Promise<McpConnection> {
    if (this.server.isolation === "shared") return this.#borrowShared();
    for (let idle = this.#idle.shift(); idle; idle = this.#idle.shift()) {
      const connection = await idle;
      if (connection && !connection.lost) return connection;
      if (connection) this.discard(connection);
    }
    return this.#start();
  }

  /** Returns at once; the server is reset or ended in the background. */
  giveBack(connection: McpConnection, { used }: { used: boolean }): void {
    if (this.server.isolation === "shared") return;
    const keep = this.server.isolation === "pool" && !this.#closing.signal.aborted;
    if (keep && !used && !connection.lost) this.#idle.push(Promise.resolve(connection));
    else if (keep) this.#idle.push(this.#inBackground(this.#renew(connection)));
    else this.discard(connection);
  }

  /** Ends a failed connection: it is never handed out again. */
  discard(connection: McpConnection): void {
    void this.#inBackground(this.#end(connection));
  }

  /** Ends every connection, used or not; resolves when no process is left. */
  async close(): Promise<void> {
    const { name } = this.server;
    this.#closing.abort(new ServerTrouble(name, `MCP server "${name}": the run is over`));
    while (this.#background.size > 0 || this.#live.size > 0) {
      await Promise.allSettled([...this.#background, ...Array.from(this.#live, (connection) => this.#end(connection))]);
    }
  }

  /** One connection for all, opened on first use and reopened when lost. */
  async #borrowShared(): Promise<McpConnection> {
    const current = this.#shared;
    const connection = await current?.catch(() => undefined);
    if (connection && !connection.lost) return connection;
    if (this.#shared !== current) return this.#borrowShared(); // another rollout opened it in the meantime
    if (connection) this.discard(connection);
    this.#shared = this.#start();
    return this.#shared;
  }

  #start(): Promise<McpConnection> {
    const starting = this.#open(this.#closing.signal).then((connection) => {
      this.#live.add(connection);
      return connection;
    });
    return this.#inBackground(starting);
  }

  async #end(connection: McpConnection): Promise<void> {
    await connection.close().finally(() => this.#live.delete(connection));
  }

  async #renew(connection: McpConnection): Promise<McpConnection | undefined> {
    if (await this.#reset(connection)) return connection;
    await this.#end(connection);
    return this.#start().catch(() => undefined); // the next borrower tries again and reports the error
  }

  async #reset(connection: McpConnection): Promise<boolean> {
    if (this.server.resetTool === undefined || connection.lost) return false;
    return connection.call(this.server.resetTool, {}, { signal: this.#closing.signal }).then(
      (result) => !result.isError,
      () => false,
    );
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
