// Environments whose tools are TypeScript or JavaScript functions in this process, over copy-on-write tables.
import {
  type Environment,
  hexFrom,
  isErrorValue,
  type Json,
  type JsonObject,
  messageOf,
  type StateChanges,
  type ToolCall,
  type ToolResult,
  type ToolSpec,
} from "../core/index.ts";
import { failure, prepareCall } from "./arguments.ts";
import type { DomainServer, ToolContext, ToolHandler } from "./domain-server.ts";
import type { Toolbox } from "./naming.ts";
import type { Database, OpenDatabase } from "./tables.ts";

export type InProcessDomain = { toolbox: Toolbox; servers: ReadonlyMap<string, DomainServer>; database: Database };

export function openInProcess(domain: InProcessDomain, seed: number): Environment {
  return new InProcessEnvironment(domain, seed);
}

class InProcessEnvironment implements Environment {
  readonly #domain: InProcessDomain;
  readonly #seed: number;
  readonly #database: OpenDatabase;
  readonly #sessions = new Map<string, ToolContext["session"]>();
  #calls = 0;

  constructor(domain: InProcessDomain, seed: number) {
    this.#domain = domain;
    this.#seed = seed;
    this.#database = domain.database.open();
  }

  get tools(): ToolSpec[] {
    return this.#domain.toolbox.tools;
  }

  isReadOnly(toolName: string): boolean {
    return this.#domain.toolbox.resolve(toolName)?.spec.readOnly ?? true;
  }

  async call(call: ToolCall): Promise<ToolResult> {
    const callNumber = this.#calls++; // before anything is awaited, so that numbers follow the order of the calls
    const prepared = prepareCall(this.#domain.toolbox, call);
    if (!prepared.ok) return prepared.result;
    const { named, value } = prepared;
    const server = this.#domain.servers.get(named.server) as DomainServer;
    const handler = (server.reads[named.tool] ?? server.writes[named.tool]) as ToolHandler;
    return runHandler(handler, this.#context(named.server, server, callNumber), value);
  }

  async state(): Promise<StateChanges> {
    return this.#database.changes();
  }

  async close(): Promise<void> {}

  #context(name: string, server: DomainServer, callNumber: number): ToolContext {
    let session = this.#sessions.get(name);
    if (!session) {
      session = {};
      this.#sessions.set(name, session);
    }
    let ids = 0;
    return {
      table: (table) => this.#database.table(table),
      session,
      today: server.today,
      now: () => momentOf(server.today, this.#seed, callNumber),
      newId: (prefix) => `${prefix}-${hexFrom(8, this.#seed, callNumber, ids++)}`,
    };
  }
}

async function runHandler(handler: ToolHandler, context: ToolContext, args: JsonObject): Promise<ToolResult> {
  try {
    return toToolResult(
      await (handler as (context: ToolContext, args: JsonObject) => Json | Promise<Json>)(context, args),
    );
  } catch (error) {
    const trace = error instanceof Error ? error.stack?.split(`\n    at ${runHandler.name} `)[0] : undefined;
    return { ...failure(`The tool failed: ${messageOf(error)}`, "tool_error"), trace: trace ?? messageOf(error) };
  }
}

export function toToolResult(value: Json): ToolResult {
  const content = typeof value === "string" ? value : JSON.stringify(value ?? null);
  const isError = isErrorValue(value);
  return { content, isError, fault: isError ? "tool_error" : undefined };
}

/** Between nine and four o'clock, a minute later with every call. */
function momentOf(today: string, seed: number, callNumber: number): string {
  const minutes = 9 * 60 + (seed % 360) + Math.min(callNumber, 480);
  const clock = [Math.floor(minutes / 60), minutes % 60].map((part) => String(part).padStart(2, "0")).join(":");
  return `${today}T${clock}:00Z`;
}
