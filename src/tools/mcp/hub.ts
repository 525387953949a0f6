// Real MCP servers as the tools of rollouts. One hub serves a whole run; each rollout opens its own environment on it.
import { setMaxListeners } from "node:events";
import {
  canonicalJson,
  type Environment,
  hasOpeningCalls,
  RolloutError,
  type ToolSpec,
  type Variables,
} from "../../core/index.ts";
import { withDescriptors } from "../../files/index.ts";
import { type NameStyle, Toolbox } from "../naming.ts";
import { launchFor, type McpServersConfig, type ResolvedServer, resolveServer } from "./config.ts";
import { McpConnection } from "./connection.ts";
import { ConnectionSource } from "./connection-source.ts";
import { McpEnvironment, type Toolboxes } from "./environment.ts";
import type { ServerWorld } from "./places.ts";
import { ServerSession } from "./server-session.ts";
import { ServerSlots } from "./server-slots.ts";
import { KnownStates } from "./state.ts";

export type McpHubOptions = {
  servers: McpServersConfig;
  /** where `${VAR}`, and the few variables that every child gets, are looked up */
  variables: Variables;
  /** what relative paths in the config are relative to */
  baseFolder: string;
  style?: NameStyle;
  /** for one call, where a server's own `timeout` does not say it */
  callSeconds?: number;
  /** one line for the log, such as a server's noise on stdout; at most one per server */
  notice?: (message: string) => void;
  /** one line, each time that descriptors are waited for */
  onShortage?: (message: string) => void;
  /** that it shares with other hubs; default: as many servers as are asked for */
  slots?: ServerSlots;
};

/** A server whose state rollouts share. */
export type SharedServer = {
  server: string;
  /** its tools that may write */
  writes: string[];
  /** it is so because the server gives no session ids, not because the config asked for it */
  lacksSessions: boolean;
};

export class McpHub {
  readonly #sources: ConnectionSource[];
  readonly #slots: ServerSlots;
  /** of connections, which take no process */
  readonly #noSlots = new ServerSlots();
  readonly #closing = new AbortController();
  readonly #lists = new Map<string, { text: string; tools: ToolSpec[] }>();
  #toolboxes: { lists: ToolSpec[][]; toolboxes: Toolboxes } | undefined;
  readonly #style: NameStyle | undefined;
  /** whose tools are shown where nobody's are asked for */
  #example: ServerWorld | undefined;
  readonly #states = new KnownStates();

  /** Throws a UsageError if the config names a variable that is not set. */
  constructor(options: McpHubOptions) {
    const noticed = new Set<string>();
    this.#slots = options.slots ?? new ServerSlots();
    setMaxListeners(Number.POSITIVE_INFINITY, this.#closing.signal); // all rollouts may wait at once
    this.#style = options.style;
    this.#sources = Object.entries(options.servers).map(([name, config]) => {
      const server = resolveServer(name, config, options);
      const notice = (message: string) => {
        if (!noticed.has(name)) options.notice?.(message);
        noticed.add(name);
      };
      const onWait = (message: string) => {
        this.#slots.endResting();
        options.onShortage?.(message);
      };
      const open = (world: ServerWorld, signal: AbortSignal) =>
        this.#slots.start(() =>
          withDescriptors(() => McpConnection.open(server, { notice, signal, world }), { onWait, signal }),
        );
      return new ConnectionSource(server, open, this.#slotsOf(server.launch.kind));
    });
    this.#slots.expect(this.#sources.filter(({ server }) => server.launch.kind === "stdio").length);
  }

  /** Without a query, as `tools` was last asked for. */
  async open(asked: ServerWorld = { seed: 0 }): Promise<Environment> {
    const environment = await this.#open(asked);
    // reading a state may be dear: whoever makes calls first settles after them
    if (asked.query && hasOpeningCalls(asked.query)) return environment;
    try {
      await environment.settle();
    } catch (error) {
      await environment.close();
      throw error;
    }
    return environment;
  }

  async #open(asked: ServerWorld): Promise<McpEnvironment> {
    const world = asked.query ? asked : (this.#example ?? asked);
    const sessions = await this.#openSessions(world);
    const byName = new Map(sessions.map((each) => [each.name, each]));
    return new McpEnvironment(await this.#toolboxesOf(sessions), byName, this.#states);
  }

  /** The tools as a rollout opened now would have them. */
  async tools(world?: ServerWorld): Promise<ToolSpec[]> {
    return (await this.toolbox(world)).tools;
  }

  /** The same, under all names that they go by. */
  async toolbox(world?: ServerWorld): Promise<Toolbox> {
    this.#example = world ?? this.#example;
    const environment = await this.#open(this.#example ?? { seed: 0 });
    try {
      await environment.settle();
      await environment.trySettling();
    } finally {
      await environment.close();
    }
    return (this.#toolboxes as { toolboxes: Toolboxes }).toolboxes.offered;
  }

  /** Whether servers are started or reached differently for each rollout. */
  get hasPlaces(): boolean {
    return this.#sources.some(({ server }) => server.hasPlaces);
  }

  /** Throws a UsageError if a server could not be started for this world: its query lacks a field. */
  requireWorld(world: ServerWorld): void {
    for (const { server } of this.#sources) launchFor(server, world, "");
  }

  /** Known once the tools were asked for. */
  shared(): SharedServer[] {
    return this.#sources.flatMap(({ server, sharesState, lacksSessions }) => {
      const resetForOne = lacksSessions && server.resetTool !== undefined && this.#slots.workers > 1;
      if (!sharesState && !resetForOne) return [];
      const writes = this.#writesOf(server).map(({ name }) => name);
      return [{ server: server.name, writes, lacksSessions: lacksSessions && server.isolation !== "shared" }];
    });
  }

  /** Servers that may write and do not show their state, once their tools have been listed. */
  get unseen(): string[] {
    return this.#sources.flatMap(({ server }) => {
      const { name, stateTool, stateResource } = server;
      const mayWrite = !this.#lists.has(name) || this.#writesOf(server).length > 0;
      return mayWrite && (stateTool ?? stateResource) === undefined ? [name] : [];
    });
  }

  /** Ends every server; resolves when no process is left. */
  async close(): Promise<void> {
    this.#closing.abort(new RolloutError("tool", "the run is over"));
    await Promise.all(this.#sources.map((source) => source.close()));
  }

  async #openSessions(world: ServerWorld): Promise<ServerSession[]> {
    const opened = await Promise.allSettled(
      (["stdio", "http"] as const).map(async (kind) => {
        const sources = this.#sources.filter(({ server }) => server.launch.kind === kind);
        const wishes = sources.map((source) => source.wish(world));
        const taken = await this.#slotsOf(kind).take(wishes, this.#closing.signal);
        return Promise.allSettled(
          sources.map((source, index) => ServerSession.open(source, taken[index] as Promise<McpConnection>, world)),
        );
      }),
    );
    const each = opened.flatMap((kind) => (kind.status === "fulfilled" ? kind.value : [kind]));
    const failed = each.find(({ status }) => status === "rejected");
    const sessions = each.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
    const order = this.#sources.map(({ server }) => server.name);
    if (!failed) return sessions.sort((a, b) => order.indexOf(a.name) - order.indexOf(b.name));
    await Promise.all(sessions.map((session) => session.close()));
    throw (failed as PromiseRejectedResult).reason;
  }

  /** Those offered. */
  #writesOf({ name, hiddenTools }: ResolvedServer): ToolSpec[] {
    const tools = this.#lists.get(name)?.tools ?? [];
    return tools.filter((tool) => !tool.readOnly && !hiddenTools.has(tool.name));
  }

  #slotsOf(kind: "stdio" | "http"): ServerSlots {
    return kind === "stdio" ? this.#slots : this.#noSlots;
  }

  /** Rollouts whose servers list the same tools share one toolbox, and with it the compiled schemas. */
  async #toolboxesOf(sessions: ServerSession[]): Promise<Toolboxes> {
    const lists = await Promise.all(
      sessions.map(async (session) => this.#interned(session.name, await session.tools())),
    );
    if (!this.#toolboxes?.lists.every((list, index) => list === lists[index])) {
      const all = sessions.map(({ name }, index) => ({ server: name, tools: lists[index] as ToolSpec[] }));
      const offered = all.map(({ server, tools }, index) => {
        const hidden = this.#sources[index]?.server.hiddenTools;
        return { server, tools: tools.filter(({ name }) => !hidden?.has(name)) };
      });
      const toolboxes = { offered: new Toolbox(offered, this.#style), all: new Toolbox(all, this.#style) };
      this.#toolboxes = { lists, toolboxes };
    }
    return this.#toolboxes.toolboxes;
  }

  #interned(server: string, tools: ToolSpec[]): ToolSpec[] {
    const known = this.#lists.get(server);
    if (known?.tools === tools) return tools;
    const text = canonicalJson(tools);
    if (known?.text === text) return known.tools;
    this.#lists.set(server, { text, tools });
    return tools;
  }
}
