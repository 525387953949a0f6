// Errors that tools answered with, by tool. An exception inside a tool is a bug of the tool, so its first trace is kept.
import { type RunEvent, rolloutId } from "../core/index.ts";

export type ToolErrors = {
  tool: string;
  calls: number;
  errors: number;
  /** how many of the errors were exceptions in the tool's own code */
  thrown: number;
  /** the first error: an exception, if there was one */
  first: { id: string; text: string; trace: string | undefined } | undefined;
};

export class ToolErrorTally {
  readonly #tools = new Map<string, ToolErrors>();

  add(event: RunEvent): void {
    if (event.type !== "entry-end" || event.entry.type !== "tool-result") return;
    const { name, isError, content, trace, injected } = event.entry;
    const tool = this.#tools.get(name) ?? { tool: name, calls: 0, errors: 0, thrown: 0, first: undefined };
    this.#tools.set(name, tool);
    tool.calls++;
    if (!isError || injected !== undefined) return;
    tool.errors++;
    if (trace !== undefined) tool.thrown++;
    const isBetter = trace !== undefined && tool.first?.trace === undefined;
    if (!tool.first || isBetter) tool.first = { id: rolloutId(event), text: content, trace };
  }

  /** Those that threw first, then the most frequent. */
  list(): ToolErrors[] {
    const all = [...this.#tools.values()].filter(({ errors }) => errors > 0);
    return all.sort((a, b) => b.thrown - a.thrown || b.errors - a.errors);
  }
}
