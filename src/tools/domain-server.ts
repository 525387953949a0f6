// The contract of a domain's server written in TypeScript or JavaScript: `mcp_servers/{Server}.ts` exports one of these
// as its default. A server needs only what its context gives it, so a copy of a bundled one runs anywhere.
import type { Json } from "../core/index.ts";
import type { Row, Table } from "./tables.ts";

export interface ToolContext {
  /** This rollout's own view of a table; a table without a file starts empty. */
  table<R extends Row = Row>(name: string): Table<R>;
  /** What this server remembers within the dialogue, such as who is authorised. Not shared between servers. */
  session: { [key: string]: Json };
  /** The domain's date, `YYYY-MM-DD`. */
  today: string;
  /** A time on that day, later with every call; the same on every replay. */
  now(): string;
  /** `PREFIX-` and eight hex digits, unique in the rollout, the same on every replay. */
  newId(prefix: string): string;
}

/**
 * Arguments have passed the tool's schema before they arrive. Failures are returned, not thrown: `{ error: "…" }` or
 * `{ success: false, message: "…" }`. A write that needs consent takes `confirm` and answers
 * `{ needs_confirmation: true, action_preview: "…" }` until it is true.
 */
type ToolHandler = (context: ToolContext, args: never) => ToolValue | Promise<ToolValue>;

/** JSON, whose members may be undefined: so are those that one of a function's results has and another has not. */
type ToolValue = Json | undefined | ToolValue[] | { [key: string]: ToolValue };

/** Rules of the policy that a program can check on a trajectory. */
export type PolicyRule =
  /** `tool` succeeds before any other tool of its server is called, except these */
  | { id: string; rule: "authorize_first"; tool: string; except?: string[] }
  /** the user agrees to a call of these before it takes effect */
  | { id: string; rule: "confirm_before"; tools: string[] }
  | { id: string; rule: "forbidden"; tools: string[] }
  /** `tool` signs in one person, named by the argument `by`, and nobody on behalf of somebody else */
  | { id: string; rule: "one_person"; tool: string; by: string }
  /**
   * The user is handed over, by one of `tools` or in words, only where the policy says so; with `ask`, only after they
   * agreed, unless the sign-in with `locked_by` is locked.
   */
  | { id: string; rule: "transfer"; tools?: string[]; ask?: boolean; locked_by?: string };

export type DomainServer = {
  today: string;
  /** Tools that change nothing: calls of one reply run concurrently. */
  reads: { [tool: string]: ToolHandler };
  /** Tools that change tables or the session: calls run in order. */
  writes: { [tool: string]: ToolHandler };
  rules?: PolicyRule[];
  /** Fields whose values differ between equally good dialogues, by table (times of day, free-text notes). */
  volatile?: { [table: string]: string[] };
};
