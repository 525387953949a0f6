// Real MCP servers as the tools of rollouts. One hub serves a whole run; each rollout opens its own environment on it.
import {
  canonicalJson,
  contentHash,
  type Environment,
  type EnvironmentCall,
  RolloutError,
  type StateChanges,
  type ToolCall,
  type ToolResult,
  type ToolSpec,
  type Variables,
  type World,
  withExactNumbers,
} from "../../core/index.ts";
import { withDescriptors } from "../../files/index.ts";
import { prepareCall } from "../arguments.ts";
import { type NameStyle, Toolbox } from "../naming.ts";
import { type McpServersConfig, resolveServer } from "./config.ts";
import { McpConnection } from "./connection.ts";
import { ConnectionSource } from "./connection-source.ts";
import { ServerSession } from "./server-session.ts";
import { changesSince, type KnownState, KnownStates, StateTrouble } from "./state.ts";

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
  /** servers that may start at the same time: each takes a processor for a third of a second */
  startsAtOnce?: number;
};

export class McpHub {
  readonly #sources: ConnectionSource[];
  readonly #lists = new Map<string, { text: string; tools: ToolSpec[] }>();
  #toolbox: { lists: ToolSpec[][]; toolbox: Toolbox } | undefined;
  readonly #style: NameStyle | undefined;
  readonly #states = new KnownStates();

  /** Throws a UsageError if the config names a variable that is not set. */
  constructor(options: McpHubOptions) {
    const noticed = new Set<string>();
    const start = limitConcurrency(options.startsAtOnce ?? 8);
    this.#style = options.style;
    this.#sources = Object.entries(options.servers).map(([name, config]) => {
      const server = resolveServer(name, config, options);
      const notice = (message: string) => {
        if (!noticed.has(name)) options.notice?.(message);
        noticed.add(name);
      };
      return new ConnectionSource(server, (signal) =>
        start(() => {
          const open = () => McpConnection.open(server, { notice, signal });
          return withDescriptors(open, { onWait: options.onShortage, signal });
        }),
      );
    });
  }

  open(_world: World = { seed: 0 }): Promise<Environment> {
    return this.#open();
  }

  async #open(): Promise<McpEnvironment> {
    const sessions = await this.#openSessions();
    const byName = new Map(sessions.map((each) => [each.name, each]));
    const environment = new McpEnvironment(await this.#toolboxOf(sessions), byName, this.#states);
    try {
      await environment.settle();
    } catch (error) {
      await environment.close();
      throw error;
    }
    return environment;
  }

  /** The tools as a rollout opened now would have them. */
  async tools(): Promise<ToolSpec[]> {
    const environment = await this.#open();
    try {
      await environment.trySettling();
    } finally {
      await environment.close();
    }
    return environment.tools;
  }

  /** Of the servers as they were listed last. */
  get toolbox(): Toolbox {
    return this.#toolbox?.toolbox ?? new Toolbox([], this.#style);
  }

  /** Servers that may write and do not show their state, once their tools have been listed. */
  get unseen(): string[] {
    return this.#sources.flatMap(({ server }) => {
      const { name, stateTool, stateResource } = server;
      const mayWrite = this.#lists.get(name)?.tools.some(({ readOnly }) => !readOnly) ?? true;
      return mayWrite && (stateTool ?? stateResource) === undefined ? [name] : [];
    });
  }

  /** Ends every server; resolves when no process is left. */
  async close(): Promise<void> {
    await Promise.all(this.#sources.map((source) => source.close()));
  }

  async #openSessions(): Promise<ServerSession[]> {
    const opened = await Promise.allSettled(this.#sources.map((source) => ServerSession.open(source)));
    const failed = opened.find((each) => each.status === "rejected");
    const sessions = opened.flatMap((each) => (each.status === "fulfilled" ? [each.value] : []));
    if (!failed) return sessions;
    await Promise.all(sessions.map((session) => session.close()));
    throw failed.reason;
  }

  /** Rollouts whose servers list the same tools share one toolbox, and with it the compiled schemas. */
  async #toolboxOf(sessions: ServerSession[]): Promise<Toolbox> {
    const lists = await Promise.all(
      sessions.map(async (session) => this.#interned(session.name, await session.tools())),
    );
    if (!this.#toolbox?.lists.every((list, index) => list === lists[index])) {
      const servers = sessions.map(({ name }, index) => ({ server: name, tools: lists[index] as ToolSpec[] }));
      this.#toolbox = { lists, toolbox: new Toolbox(servers, this.#style) };
    }
    return this.#toolbox.toolbox;
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

class McpEnvironment implements Environment {
  readonly #toolbox: Toolbox;
  readonly #sessions: ReadonlyMap<string, ServerSession>;
  readonly #states: KnownStates;
  /** by server, as the rollout found it */
  readonly #initial = new Map<string, KnownState>();

  constructor(toolbox: Toolbox, sessions: ReadonlyMap<string, ServerSession>, states: KnownStates) {
    this.#toolbox = toolbox;
    this.#sessions = sessions;
    this.#states = states;
  }

  get tools(): ToolSpec[] {
    return this.#toolbox.tools;
  }

  isReadOnly(toolName: string): boolean {
    return this.#toolbox.resolve(toolName)?.spec.readOnly ?? true;
  }

  async call(call: EnvironmentCall, signal: AbortSignal): Promise<ToolResult> {
    const prepared = prepareCall(this.#toolbox, call);
    if (!prepared.ok) return prepared.result;
    const { named, value } = prepared;
    const args = withExactNumbers(value, call.arguments);
    const announce = this.isReadOnly(call.name) ? undefined : call.announce;
    const session = this.#sessions.get(named.server) as ServerSession;
    const result = await session.call({ tool: named.tool, args, signal, announce });
    if (!session.readsAfterWrites || named.spec.readOnly) return result;
    return { ...result, stateHash: contentHash(await this.state()) };
  }

  /** A call to a shared server has already taken effect for everyone: it is not repeated. */
  trust(call: ToolCall): boolean {
    const named = this.#toolbox.resolve(call.name);
    return named !== undefined && (this.#sessions.get(named.server) as ServerSession).isShared;
  }

  /** Of the servers that show theirs; with several servers, under their names. */
  async state(): Promise<StateChanges> {
    const read = [...this.#initial].map(async ([name, initial]) => {
      const changes = changesSince(initial, await (this.#sessions.get(name) as ServerSession).readState());
      if (this.#sessions.size === 1) return changes;
      return Object.fromEntries(Object.entries(changes).map(([table, rows]) => [`${name}.${table}`, rows]));
    });
    return Object.assign({}, ...(await Promise.all(read)));
  }

  /** From now on, changes are those from here. */
  async settle(): Promise<void> {
    const seen = [...this.#sessions.values()].filter((session) => session.seesState);
    const texts = await Promise.all(seen.map((session) => session.readState()));
    for (const [index, { name }] of seen.entries()) this.#initial.set(name, this.#states.know(texts[index] as string));
  }

  /** Looking at a state must not change it. */
  async trySettling(): Promise<void> {
    for (const [table] of Object.entries(await this.state())) {
      const name = this.#sessions.size === 1 ? [...this.#sessions.keys()].join() : (table.split(".")[0] as string);
      const text = `the state of MCP server "${name}" is another one each time it is read: ${table} differs, and no tool was called in between`;
      throw new RolloutError("tool", text, { cause: new StateTrouble(name, text) });
    }
  }

  async close(): Promise<void> {
    await Promise.all([...this.#sessions.values()].map((session) => session.close()));
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
