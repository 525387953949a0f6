// One rollout's environment on MCP servers: its calls go to the server that has the tool.
import type { Environment, EnvironmentCall, StateChanges, ToolCall, ToolResult, ToolSpec } from "../../core/index.ts";
import { checkArguments, prepareCall } from "../arguments.ts";
import { type NamedTool, prefixesFor, type Toolbox } from "../naming.ts";
import { sentAs } from "./message-text.ts";
import type { ServerSession } from "./server-session.ts";

/** `all` has the hidden tools too. */
export type Toolboxes = { offered: Toolbox; all: Toolbox };

export class McpEnvironment implements Environment {
  readonly #toolboxes: Toolboxes;
  readonly #sessions: ReadonlyMap<string, ServerSession>;

  constructor(toolboxes: Toolboxes, sessions: ReadonlyMap<string, ServerSession>) {
    this.#toolboxes = toolboxes;
    this.#sessions = sessions;
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
    return (this.#sessions.get(named.server) as ServerSession).call({ tool: named.tool, args, signal, announce });
  }

  /** A call to a shared server has already taken effect for everyone: it is not repeated. */
  trust(call: ToolCall): boolean {
    const named = this.#toolboxes.offered.resolve(call.name);
    return named !== undefined && (this.#sessions.get(named.server) as ServerSession).isShared;
  }

  /** A server's internal state is unknown here: always empty. Judge such rollouts by their calls and results. */
  async state(): Promise<StateChanges> {
    return {};
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

  /** With several servers, the name says which: `Server.tool` or `prefix__tool`. */
  #findUnlisted(name: string): NamedTool | undefined {
    const servers = [...this.#sessions.keys()];
    const spec = { name, description: "", parameters: { type: "object" }, readOnly: false };
    const [only] = servers;
    if (only !== undefined && servers.length === 1) return { server: only, tool: name, spec };
    for (const [server, prefix] of prefixesFor(servers))
      for (const start of [`${server}.`, `${prefix}.`, `${server}__`, `${prefix}__`])
        if (name.startsWith(start)) return { server, tool: name.slice(start.length), spec };
    return undefined;
  }
}
