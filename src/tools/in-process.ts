// Environments whose tools are TypeScript or JavaScript functions in this process, over copy-on-write tables.
import type { Environment, StateChanges, ToolCall, ToolResult, ToolSpec } from "../core/index.ts";
import { prepareCall } from "./arguments.ts";
import { DomainSession, type SessionOptions } from "./domain-session.ts";
import type { Toolbox } from "./naming.ts";

export type InProcessDomain = SessionOptions & { toolbox: Toolbox };

export function openInProcess(domain: InProcessDomain, seed: number): Environment {
  return new InProcessEnvironment(domain, seed);
}

class InProcessEnvironment implements Environment {
  readonly #toolbox: Toolbox;
  readonly #session: DomainSession;
  #calls = 0;

  constructor(domain: InProcessDomain, seed: number) {
    this.#toolbox = domain.toolbox;
    this.#session = new DomainSession(domain, seed);
  }

  get tools(): ToolSpec[] {
    return this.#toolbox.tools;
  }

  isReadOnly(toolName: string): boolean {
    return this.#toolbox.resolve(toolName)?.spec.readOnly ?? true;
  }

  async call(call: ToolCall, signal: AbortSignal): Promise<ToolResult> {
    const number = this.#calls++; // before anything is awaited, so that numbers follow the order of the calls
    const prepared = prepareCall(this.#toolbox, call);
    if (!prepared.ok) return prepared.result;
    const { server, tool } = prepared.named;
    return this.#session.call({ server, tool, args: prepared.value, number, signal });
  }

  async state(): Promise<StateChanges> {
    return this.#session.state();
  }

  async close(): Promise<void> {
    this.#session.close();
  }
}
