// One rollout's session with one server: a connection and a record of its calls. When the rollout's own server
// crashes or hangs, a new one is brought to the same state by the same calls, and the failed call is made once more.
// A shared server's calls are not repeated here: the rollout ends instead, and its next attempt sends the call that got no
// answer once more, under the same idempotency key.
import {
  contentHash,
  type EnvironmentCall,
  type JsonObject,
  RolloutError,
  type ToolResult,
  type ToolSpec,
  UsageError,
} from "../../core/index.ts";
import { type McpConnection, ServerTrouble } from "./connection.ts";
import type { ConnectionSource } from "./connection-source.ts";
import type { ServerWorld } from "./places.ts";
import { readState, StateTrouble } from "./state.ts";

type ServerCall = {
  tool: string;
  args: JsonObject;
  signal: AbortSignal;
  announce?: EnvironmentCall["announce"];
};
type PastCall = { tool: string; args: JsonObject; resultHash: string };

export class ServerSession {
  readonly #source: ConnectionSource;
  readonly #world: ServerWorld;
  readonly #past: PastCall[] = [];
  #connection: Promise<McpConnection>;
  #used = false;

  /** With a connection that was taken from the source. */
  static async open(
    source: ConnectionSource,
    taken: Promise<McpConnection>,
    world: ServerWorld,
  ): Promise<ServerSession> {
    return new ServerSession(source, await taken.catch(rethrow), world);
  }

  private constructor(source: ConnectionSource, connection: McpConnection, world: ServerWorld) {
    this.#source = source;
    this.#world = world;
    this.#connection = Promise.resolve(connection);
  }

  get name(): string {
    return this.#source.server.name;
  }

  get isShared(): boolean {
    return this.#source.sharesState;
  }

  async tools(): Promise<ToolSpec[]> {
    return (await this.#connection).tools().catch(rethrow);
  }

  async call(call: ServerCall): Promise<ToolResult> {
    this.#used = true;
    try {
      const connection = await this.#ready();
      return await this.#callOn(connection, call).catch((error) => {
        if (this.isShared || !(error instanceof ServerTrouble)) throw error;
        return this.#callAgain(connection, call);
      });
    } catch (error) {
      return rethrow(error);
    }
  }

  get seesState(): boolean {
    const { stateTool, stateResource } = this.#source.server;
    return (stateTool ?? stateResource) !== undefined && !this.isShared;
  }

  get readsAfterWrites(): boolean {
    return this.seesState && this.#source.server.stateAfterWrites === true;
  }

  /** For us, not for the agent: it is not among the calls that a new server is brought to the same state by. */
  async readState(): Promise<string> {
    const { server } = this.#source;
    try {
      const connection = await this.#ready();
      return await readState(connection, server).catch(async (error) => {
        if (!(error instanceof ServerTrouble) || error instanceof StateTrouble) throw error;
        return readState(await this.#renewed(connection, new AbortController().signal), server);
      });
    } catch (error) {
      return rethrow(error);
    }
  }

  async close(): Promise<void> {
    const connection = await this.#connection.catch(() => undefined);
    if (connection) this.#source.giveBack(connection, { used: this.#used, world: this.#world });
  }

  /** Where calls are not repeated, a connection that broke earlier is reopened: none of ours was in flight. */
  async #ready(): Promise<McpConnection> {
    const current = this.#connection;
    const connection = await current;
    if (!this.isShared || !connection.lost) return connection;
    if (this.#connection === current) this.#connection = this.#source.replace(connection, this.#world);
    return this.#connection;
  }

  async #callOn(connection: McpConnection, { tool, args, signal, announce }: ServerCall) {
    const idempotencyKey = this.isShared ? await announce?.() : undefined;
    const options = { signal, idempotencyKey, world: this.#world };
    const result = await connection.call(tool, args, options).catch((error) => {
      if (idempotencyKey === undefined || !(error instanceof ServerTrouble)) throw error;
      throw new ServerTrouble(this.name, `${error.message}; the call may have taken effect there`, { cause: error });
    });
    if (!this.isShared) this.#past.push({ tool, args, resultHash: hashOf(result) });
    return result;
  }

  async #callAgain(failed: McpConnection, call: ServerCall) {
    return this.#callOn(await this.#renewed(failed, call.signal), call);
  }

  /** Concurrent calls that failed together share one restart. */
  async #renewed(failed: McpConnection, signal: AbortSignal): Promise<McpConnection> {
    const current = this.#connection;
    if ((await current) === failed && this.#connection === current) this.#connection = this.#restart(failed, signal);
    return this.#connection;
  }

  async #restart(failed: McpConnection, signal: AbortSignal): Promise<McpConnection> {
    const connection = await this.#source.replace(failed, this.#world);
    for (const { tool, args, resultHash } of this.#past) {
      const again = await connection.call(tool, args, { signal, world: this.#world }).catch((error) => {
        this.#source.discard(connection);
        throw error;
      });
      if (hashOf(again) === resultHash) continue;
      this.#source.discard(connection);
      throw new RolloutError("tool", `MCP server "${this.name}" was restarted, and ${tool} then answered differently`);
    }
    return connection;
  }
}

function hashOf(result: ToolResult): string {
  return contentHash([result.content, result.isError]);
}

function rethrow(error: unknown): never {
  if (error instanceof UsageError) throw new RolloutError("tool", error.message, { cause: error });
  if (error instanceof ServerTrouble) throw new RolloutError("tool", error.message, { cause: error });
  throw error;
}
