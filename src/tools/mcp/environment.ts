// One rollout's environment on MCP servers: its calls go to the server that has the tool.
import {
  contentHash,
  type Environment,
  type EnvironmentCall,
  RolloutError,
  type StateChanges,
  type ToolCall,
  type ToolResult,
  type ToolSpec,
} from "../../core/index.ts";
import { checkArguments, prepareCall } from "../arguments.ts";
import { type NamedTool, prefixesFor, type Toolbox } from "../naming.ts";
import { sentAs } from "./message-text.ts";
import type { ServerSession } from "./server-session.ts";
import { changesSince, type KnownState, type KnownStates, StateTrouble } from "./state.ts";

/** `all` has the hidden tools too. */
export type Toolboxes = { offered: Toolbox; all: Toolbox };

export class McpEnvironment implements Environment {
  readonly #toolboxes: Toolboxes;
  readonly #sessions: ReadonlyMap<string, ServerSession>;
  readonly #states: KnownStates;
  /** by server, as the rollout found it */
  readonly #initial = new Map<string, KnownState>();

  constructor(toolboxes: Toolboxes, sessions: ReadonlyMap<string, ServerSession>, states: KnownStates) {
    this.#toolboxes = toolboxes;
    this.#sessions = sessions;
    this.#states = states;
  }

  get tools(): ToolSpec[] {
    return this.#toolboxes.offered.tools;
  }

  isReadOnly(toolName: string): boolean {
    const { offered, all } = this.#toolboxes;
    return (offered.resolve(toolName) ?? all.resolve(toolName))?.spec.readOnly ?? true;
  }

  async call(call: EnvironmentCall, signal: AbortSignal): Promise<ToolResult> {
    const prepared = call.by === "setup" ? this.#prepareOwn(call) : prepareCall(this.#toolboxes.offered, call);
    if (!prepared.ok) return prepared.result;
    const { named, value } = prepared;
    const args = sentAs(value, call.arguments);
    const announce = this.isReadOnly(call.name) ? undefined : call.announce;
    const session = this.#sessions.get(named.server) as ServerSession;
    const result = await session.call({ tool: named.tool, args, signal, announce });
    if (!session.readsAfterWrites || named.spec.readOnly) return result;
    return { ...result, stateHash: contentHash(await this.state()) };
  }

  /** A call to a shared server has already taken effect for everyone: it is not repeated. */
  trust(call: ToolCall): boolean {
    const { offered, all } = this.#toolboxes;
    const named = offered.resolve(call.name) ?? all.resolve(call.name) ?? this.#findUnlisted(call.name);
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

  /** Setup may call hidden tools, and even those that a server does not list. */
  #prepareOwn(call: EnvironmentCall): ReturnType<typeof prepareCall> {
    const unlisted = this.#toolboxes.all.resolve(call.name) ? undefined : this.#findUnlisted(call.name);
    if (!unlisted) return prepareCall(this.#toolboxes.all, call);
    const checked = checkArguments(unlisted.spec, call.arguments);
    return checked.ok ? { ...checked, named: unlisted } : checked;
  }

  /** The name says whose it is: `Server.tool` or `prefix__tool`. A bare one is the only server's. */
  #findUnlisted(name: string): NamedTool | undefined {
    const servers = [...this.#sessions.keys()];
    const spec = { name, description: "", parameters: { type: "object" }, readOnly: false };
    const [only] = servers;
    if (only !== undefined && servers.length === 1) {
      const tool = name.startsWith(`${only}.`) ? name.slice(only.length + 1) : name;
      return { server: only, tool, spec };
    }
    for (const [server, prefix] of prefixesFor(servers))
      for (const start of [`${server}.`, `${prefix}.`, `${server}__`, `${prefix}__`])
        if (name.startsWith(start)) return { server, tool: name.slice(start.length), spec };
    return undefined;
  }
}
