// One connection to one MCP server, through the official client: its tools, its calls, its end.
import { rm } from "node:fs/promises";
import type { Client, ProtocolError, Tool, Transport } from "@modelcontextprotocol/client";
import { type JsonObject, messageOf, redactText, type ToolResult, type ToolSpec } from "../../core/index.ts";
import { makeTempFolder } from "../../files/index.ts";
import { failure } from "../arguments.ts";
import { ChildTransport } from "./child-transport.ts";
import { type Launch, launchFor, type ResolvedServer } from "./config.ts";
import { openHttp } from "./http-transport.ts";
import { keptValue } from "./message-text.ts";
import type { ServerWorld } from "./places.ts";
import { fromMcpResult, fromStateResult } from "./result.ts";
import { callAsTask } from "./task.ts";

/** The server did not answer: it crashed, hung or is unreachable. What the call did there is unknown. */
export class ServerTrouble extends Error {
  override name = "ServerTrouble";
  readonly server: string;
  /** it died or could not be reached while starting: another attempt may succeed */
  readonly mayPass: boolean;
  constructor(server: string, message: string, options: ErrorOptions & { mayPass?: boolean } = {}) {
    super(message, options);
    this.server = server;
    this.mayPass = options.mayPass ?? false;
  }
}

/** Under which `_meta` says whom a server serves. */
const TASK_NAME = "rollout/task";

/** Under which a call's `_meta` holds its idempotency key. */
const KEY_NAME = "rollout/idempotency-key";
/** Starting may include downloading a package. */
const MAX_START_MS = 60_000;
const MAX_PING_MS = 5000;
/** A state may come as text, indented, and as structured content, all in one message. */
const MAX_STATE_BYTES = 64 * 1024 * 1024;
/** Progress extends a call's time limit, at most to this many times its length. */
const PROGRESS_FACTOR = 10;

/** `asState`: the answer is a server's state, as JSON */
type CallOptions = { signal?: AbortSignal; idempotencyKey?: string; world?: ServerWorld; asState?: boolean };
type OpenOptions = { notice: (message: string) => void; signal: AbortSignal; world: ServerWorld };

export class McpConnection {
  readonly #server: ResolvedServer;
  readonly #sdk: typeof import("@modelcontextprotocol/client");
  readonly #client: Client;
  readonly #transport: Transport;
  readonly #cleanUp: () => Promise<void>;
  #listing: Promise<ToolSpec[]> | undefined;
  #definitions = new Map<string, Tool>();
  #lost = false;

  static async open(server: ResolvedServer, { notice, signal, world }: OpenOptions): Promise<McpConnection> {
    const sdk = await import("@modelcontextprotocol/client");
    const connect = async (mode: "legacy" | "auto") => {
      signal.throwIfAborted();
      const link = await openLink(server, world, notice);
      introduce(link.transport, taskOf(world, server));
      const connection = new McpConnection(server, sdk, link, mode);
      await connection.#connect(signal);
      return connection;
    };
    // Sessions, which keep rollouts apart, exist only in the older protocol; a server that refuses it gets the newer one.
    return connect("legacy").catch((error) => {
      if (error.cause instanceof sdk.ProtocolError) return connect("auto");
      throw error;
    });
  }

  private constructor(
    server: ResolvedServer,
    sdk: typeof import("@modelcontextprotocol/client"),
    link: { transport: Transport; cleanUp: () => Promise<void> },
    mode: "legacy" | "auto",
  ) {
    this.#server = server;
    this.#sdk = sdk;
    this.#transport = link.transport;
    this.#cleanUp = link.cleanUp;
    const forget = () => {
      this.#listing = undefined;
    };
    this.#client = new sdk.Client(
      { name: "rollout", version: "1" },
      {
        versionNegotiation: { mode },
        listChanged: { tools: { autoRefresh: false, debounceMs: 0, onChanged: forget } },
      },
    );
    this.#client.onclose = () => {
      this.#lost = true;
    };
  }

  /** True once the server is gone or unreachable: this connection can no longer be used. */
  get lost(): boolean {
    return this.#lost;
  }

  /** Without one, a server at a URL is stateless, or keeps one state for everybody. */
  get hasSession(): boolean {
    return this.#server.launch.kind === "stdio" || this.#transport.sessionId !== undefined;
  }

  /** True if what is written through it may be seen by others: such calls are not repeated. */
  get sharesState(): boolean {
    const { isolation, hasPlaces, resetTool } = this.#server;
    if (isolation === "shared") return true;
    return !this.hasSession && !(isolation === "fresh" && hasPlaces) && resetTool === undefined;
  }

  /** All pages of the list; requested again only after the server says that it changed. */
  tools(): Promise<ToolSpec[]> {
    this.#listing ??= this.#list();
    return this.#listing;
  }

  /** Throws ServerTrouble, or the signal's reason; a refusal by the server itself is an error result. */
  async call(tool: string, args: JsonObject, options: CallOptions = {}): Promise<ToolResult> {
    const { signal, idempotencyKey, world, asState } = options;
    signal?.throwIfAborted();
    const definition = this.#definitions.get(tool) ?? { name: tool, inputSchema: { type: "object" } };
    const limits = {
      signal,
      timeout: this.#server.timeoutMs,
      maxTotalTimeout: this.#server.timeoutMs * PROGRESS_FACTOR,
      resetTimeoutOnProgress: true,
      onprogress: () => {},
    };
    try {
      const params = {
        name: tool,
        arguments: args,
        _meta: {
          ...(world && { [TASK_NAME]: describeTask(world) }),
          ...(idempotencyKey !== undefined && { [KEY_NAME]: idempotencyKey }),
        },
      };
      const answer =
        definition.execution?.taskSupport === "required"
          ? await callAsTask(this.#client, params, limits)
          : await this.#client.callTool(params, { ...limits, toolDefinition: definition });
      return asState ? fromStateResult(answer) : fromMcpResult(answer);
    } catch (error) {
      if (signal?.aborted) {
        if (!this.sharesState) this.#lost = true; // the call may still be running in there
        throw signal.reason;
      }
      if (error instanceof this.#sdk.ProtocolError) return this.#refusal(error);
      if (error instanceof this.#sdk.SdkError && error.code === this.#sdk.SdkErrorCode.InvalidResult) {
        return failure("The tool's answer does not follow the protocol", "tool_error");
      }
      throw this.#trouble(error, `call of ${tool}`);
    }
  }

  /** The texts of a resource; a refusal by the server is an error result. */
  async read(uri: string, signal?: AbortSignal): Promise<ToolResult> {
    try {
      const { contents } = await this.#client.readResource({ uri }, { signal, timeout: this.#server.timeoutMs });
      const texts = contents.map((part) => ("text" in part ? part.text : Buffer.from(part.blob, "base64").toString()));
      return { content: texts.join("\n"), isError: false };
    } catch (error) {
      if (error instanceof this.#sdk.ProtocolError) return this.#refusal(error);
      throw this.#trouble(error, `reading ${uri}`);
    }
  }

  /** Ends the session and, for a child, the process; resolves when nothing of it is left. */
  async close(): Promise<void> {
    this.#lost = true;
    const { StreamableHTTPClientTransport } = this.#sdk;
    if (this.#transport instanceof StreamableHTTPClientTransport) {
      await withinSeconds(5, this.#transport.terminateSession()); // the server frees what it holds for us
    }
    await this.#client.close().catch(() => {});
    await this.#transport.close().catch(() => {}); // again: a client that never connected does not close it
    await this.#cleanUp().catch(() => {}); // a leftover folder is not a reason to fail
  }

  async #connect(signal: AbortSignal): Promise<void> {
    try {
      const timeout = Math.max(MAX_START_MS, this.#server.timeoutMs);
      await this.#client.connect(this.#transport, { timeout, signal });
      await this.tools();
    } catch (error) {
      const trouble = error instanceof ServerTrouble ? error : this.#trouble(error, "start");
      await this.close();
      throw trouble;
    }
  }

  async #list(): Promise<ToolSpec[]> {
    if (!this.#client.getServerCapabilities()?.tools) return [];
    try {
      const { tools } = await this.#client.listTools(undefined, {
        cacheMode: "bypass",
        timeout: this.#server.timeoutMs,
      });
      // without the output schema: a result that violates it is still what the tool said
      this.#definitions = new Map(tools.map((tool) => [tool.name, { ...tool, outputSchema: undefined }]));
      return tools.map((tool) => toSpec(tool, this.#server));
    } catch (error) {
      this.#listing = undefined;
      throw this.#trouble(error, "tool list");
    }
  }

  /** One slow call does not condemn a server that others use; a server that does not even answer a ping is lost. */
  async #probe(): Promise<void> {
    await this.#client.ping({ timeout: MAX_PING_MS }).catch(() => {
      this.#lost = true;
    });
  }

  #refusal(error: ProtocolError): ToolResult {
    const invalid = error.code === this.#sdk.ProtocolErrorCode.InvalidParams;
    return failure(redactText(error.message), invalid ? "invalid_arguments" : "tool_error");
  }

  #trouble(error: unknown, during: string): ServerTrouble {
    const timedOut = error instanceof this.#sdk.SdkError && error.code === this.#sdk.SdkErrorCode.RequestTimeout;
    if (timedOut && this.sharesState) void this.#probe();
    else this.#lost = true;
    const end = this.#transport instanceof ChildTransport ? this.#transport.end : undefined;
    const reason = end ?? (timedOut ? "did not answer in time" : describe(error));
    const text = `MCP server "${this.#server.name}" (${during}): ${reason}`;
    const mayPass = end === undefined ? isPassing(error) : /^(exited|was ended)/.test(end);
    return new ServerTrouble(this.#server.name, redactText(text), { cause: error, mayPass });
  }
}

async function openLink(
  server: ResolvedServer,
  world: ServerWorld,
  notice: (message: string) => void,
): Promise<{ transport: Transport; cleanUp: () => Promise<void> }> {
  if (server.launch.kind === "http") return openHttp(launchFor(server, world, "") as Extract<Launch, { kind: "http" }>);
  const folder = makeTempFolder("mcp");
  const cleanUp = () => rm(folder, { recursive: true, force: true });
  try {
    const launch = launchFor(server, world, folder) as Extract<Launch, { kind: "stdio" }>;
    const transport = new ChildTransport(
      { ...launch, cwd: launch.cwd ?? folder, folder },
      (line) =>
        notice(`MCP server "${server.name}" writes to stdout: ${JSON.stringify(redactText(line).slice(0, 200))}`),
      (server.stateTool ?? server.stateResource) ? MAX_STATE_BYTES : undefined,
    );
    return { transport, cleanUp };
  } catch (error) {
    await cleanUp();
    throw error;
  }
}

/** In what opens the connection; the client itself has no way to add it. */
function introduce(transport: Transport, task: object): void {
  const send = transport.send.bind(transport);
  transport.send = (message, options) => {
    if (!("method" in message) || !OPENING.has(message.method)) return send(message, options);
    const { _meta, ...params } = (message.params ?? {}) as { _meta?: object };
    return send({ ...message, params: { ...params, _meta: { ..._meta, [TASK_NAME]: task } } }, options);
  };
}

const OPENING = new Set(["initialize", "server/discover"]);

/** A server that serves many gets to know them by their calls. */
function taskOf(world: ServerWorld, { isolation, resetTool }: ResolvedServer): object {
  const many = isolation === "shared" || resetTool !== undefined;
  return describeTask(many ? { seed: world.seed, dataset: world.dataset } : world);
}

function describeTask({ dataset, query, rollout = 0, seed }: ServerWorld): object {
  return { ...(dataset !== undefined && { dataset }), ...(query && { query_id: query.id, rollout, seed }) };
}

/** Nobody listens, the connection broke, or the server says that it cannot answer now. */
function isPassing(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code, data, cause } = error as { code?: unknown; data?: { status?: unknown }; cause?: unknown };
  if (typeof code === "string" && /^(ECONN|EPIPE|EHOSTUNREACH|UND_ERR_SOCKET)/.test(code)) return true;
  const status = Number(data?.status);
  return status === 429 || status >= 500 || isPassing(cause);
}

/** `$schema` names a dialect that neither models nor our own check need, and that some providers refuse. */
function toSpec(tool: Tool, server: ResolvedServer): ToolSpec {
  const { $schema: _, ...parameters } = keptValue(tool, tool.inputSchema as JsonObject);
  return {
    name: tool.name,
    description: tool.description ?? tool.title ?? "",
    parameters,
    readOnly:
      server.readOnly === undefined
        ? tool.annotations?.readOnlyHint === true
        : server.readOnly === true || server.readOnly.includes(tool.name),
  };
}

/** fetch hides the reason in the cause. */
function describe(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof Error && cause.message ? `${messageOf(error)} (${cause.message})` : messageOf(error);
}

async function withinSeconds(seconds: number, work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  await Promise.race([work.catch(() => {}), new Promise((resolve) => (timer = setTimeout(resolve, seconds * 1000)))]);
  clearTimeout(timer);
}
