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

const MIN_CALLS = 5;

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

  /**
   * Tools that look broken: those that threw first, then those that answered most of their calls with an error. An error
   * now and then is an answer like any other.
   */
  list(): ToolErrors[] {
    const broken = [...this.#tools.values()].filter(
      ({ thrown, errors, calls }) => thrown > 0 || (calls >= MIN_CALLS && errors > calls / 2),
    );
    return broken.sort((a, b) => b.thrown - a.thrown || b.errors - a.errors);
  }
}
