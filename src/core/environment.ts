// The interface to every kind of tool. One environment belongs to one rollout; nothing in it is shared with another.
import type { Json } from "./json.ts";
import type { ToolCall, ToolSpec } from "./message.ts";
import type { Query } from "./query.ts";

/** Why a tool result is an error: separates the model's mistakes from the tool's own answer. */
type ToolFault = "unknown_tool" | "malformed_arguments" | "invalid_arguments" | "tool_error";

export type ToolResult = {
  content: string;
  isError: boolean;
  fault?: ToolFault;
  /** where the tool's own code threw, if it did: a bug of the tool, not of the model */
  trace?: string;
  /** the whole result, if `content` was cut for the model */
  raw?: string;
  /** the fault injected into this result on purpose */
  injected?: string;
  /** an earlier attempt sent the same call and got no answer: it may have taken effect then, too */
  sentBefore?: boolean;
  /** of the changes that were there after the call, where an MCP server's `state_after_writes` asks for it */
  stateHash?: string;
};

/** Who makes a call, where it is not the agent. */
export type CallParty = "user" | "setup";

export type EnvironmentCall = ToolCall & {
  by?: CallParty;
  /**
   * Awaited right before a call whose effects outlive the rollout is sent: the intention is then on record. Returns the
   * call's idempotency key, the same for every time this call is sent.
   */
  announce?: () => Promise<string>;
};

/**
 * What differs from the initial state, by table and primary key: for a new record all of it, for a changed one the
 * fields that changed, for a deleted one null.
 */
export type StateChanges = { [table: string]: { [id: string]: { [field: string]: Json } | null } };

export type OpenedCall = ToolCall & { result: ToolResult };

/** Whose environment it is. Without a query its tools are only looked at. */
export type World = { seed: number; query?: Query; rollout?: number };

export interface Environment {
  /** the agent's */
  readonly tools: ToolSpec[];
  /** the simulated user's own, on the same state */
  readonly userTools?: ToolSpec[];
  /** what was called before the dialogue begins: the query's setup, then the calls of its opening messages */
  readonly opened?: readonly OpenedCall[];
  /** Never throws for what the model or the tool did wrong; a RolloutError means the tools are unreachable. */
  call(call: EnvironmentCall, signal: AbortSignal): Promise<ToolResult>;
  isReadOnly(toolName: string): boolean;
  /**
   * For replaying a record: true if this call must not be executed again because others share its effects; the
   * environment then adopts the recorded result. False, or no such method: execute it and compare.
   */
  trust?(call: ToolCall, recorded: ToolResult): boolean;
  state(): Promise<StateChanges>;
  /** The state as it is now becomes the initial one: for calls that prepare the rollout's world. */
  settle?(): Promise<void>;
  close(): Promise<void>;
}
