// Which tools are offered, which are called with what, and which calls fail. A name that no record offers is a misspelt
// tool, unless it was called in a record whose tools are not known.
import { findErrors, isObject, type JsonObject, nearest } from "../../core/index.ts";
import type { ExportRecord } from "../record.ts";
import { parseArguments } from "../training-dialogue.ts";
import { type Share, shareOf } from "./spread.ts";

type ToolUse = {
  calls: number;
  malformed: number;
  /** records that offer it */
  offered: number;
  /** for each parameter: in how many calls it was given */
  arguments: { [parameter: string]: number };
  /** results that are errors, of all its results */
  errors: Share;
};

export type ToolReport = {
  tool_errors: Share;
  tools: { [name: string]: ToolUse };
  /** called, but offered by no record; with the offered tool that was probably meant */
  unknown_tools: { [name: string]: { calls: number; nearest: string | undefined } };
  never_used: string[];
  /** parameters of used tools that no call gave */
  never_given: string[];
};

type Counted = Omit<ToolUse, "errors"> & { results: number; failed: number; unlisted: number };

export class ToolUses {
  readonly #tools = new Map<string, Counted>();

  /** Returns how many calls the record has. */
  see({ messages, metadata, tools }: ExportRecord): number {
    this.#offer(tools ?? []);
    const names = new Map<string, string>();
    let calls = 0;
    for (const message of messages) {
      if (message.role === "user") continue;
      if (message.role === "assistant") {
        for (const { id, function: call } of message.tool_calls ?? []) {
          calls++;
          names.set(id, call.name);
          this.#call(call.name, call.arguments, tools !== undefined);
        }
        continue;
      }
      const name = names.get(message.tool_call_id);
      if (name === undefined) continue;
      const use = this.#useOf(name);
      use.results++;
      // message by message: records from elsewhere may use an id again
      if (findErrors({ messages: [message], metadata }).has(message.tool_call_id)) use.failed++;
    }
    return calls;
  }

  report(): ToolReport {
    const isUnknown = ({ offered, unlisted }: Counted) => offered === 0 && unlisted === 0;
    const all = [...this.#tools].sort(([a, x], [b, y]) => y.calls - x.calls || (a < b ? -1 : 1));
    const real = all.filter(([, use]) => !isUnknown(use));
    const offered = real.map(([name]) => name);
    const total = (of: "results" | "failed") => all.reduce((sum, [, use]) => sum + use[of], 0);
    return {
      tool_errors: shareOf(total("failed"), total("results")),
      tools: Object.fromEntries(
        real.map(([name, { results, failed, unlisted: _, ...use }]) => [
          name,
          { ...use, errors: shareOf(failed, results) },
        ]),
      ),
      unknown_tools: Object.fromEntries(
        all
          .filter(([, use]) => isUnknown(use))
          .map(([name, { calls }]) => [name, { calls, nearest: nearest(name, offered) }]),
      ),
      never_used: real.filter(([, use]) => use.calls === 0).map(([name]) => name),
      never_given: real.flatMap(([name, use]) =>
        Object.entries(use.arguments).flatMap(([parameter, given]) =>
          use.calls > 0 && given === 0 ? [`${name}.${parameter}`] : [],
        ),
      ),
    };
  }

  #offer(tools: readonly JsonObject[]): void {
    for (const tool of tools) {
      const { name, parameters } = (isObject(tool.function) ? tool.function : tool) as JsonObject;
      const use = this.#useOf(String(name));
      use.offered++;
      if (!isObject(parameters) || !isObject(parameters.properties)) continue;
      for (const parameter of Object.keys(parameters.properties)) use.arguments[parameter] ??= 0;
    }
  }

  #call(name: string, text: string, isListed: boolean): void {
    const use = this.#useOf(name);
    const given = parseArguments(text);
    use.calls++;
    if (!isListed) use.unlisted++;
    if (!given) use.malformed++;
    for (const parameter of Object.keys(given ?? {})) use.arguments[parameter] = (use.arguments[parameter] ?? 0) + 1;
  }

  #useOf(name: string): Counted {
    const known = this.#tools.get(name);
    if (known) return known;
    const counts = { calls: 0, malformed: 0, offered: 0, results: 0, failed: 0, unlisted: 0 };
    const use = { ...counts, arguments: Object.create(null) };
    this.#tools.set(name, use);
    return use;
  }
}
