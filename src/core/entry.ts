// The record of a dialogue while it grows: replies, tool results and the judge's verdicts, in the order they happened.
import type { Json } from "./json.ts";
import type { Finish, Party, ToolCall, Usage } from "./message.ts";

export type ReplyEntry = {
  type: "reply";
  by: Party;
  content: string;
  reasoning?: string;
  /** what a provider wants back untouched: signatures, encrypted reasoning */
  opaque?: Json;
  toolCalls: ToolCall[];
  usage: Usage;
  finish: Finish;
  at: string;
  /** calls next to its words that came although tools were off: counted, never executed */
  ignoredCalls?: ToolCall[];
  /** a script wrote this, not a model */
  scripted?: true;
  /** its tool calls were taken from its text */
  recovered?: true;
  /** why this reply is kept as evidence but is no part of the dialogue; it was asked for again */
  rejected?: string;
};

export type ToolResultEntry = {
  type: "tool-result";
  usage?: undefined;
  callId: string;
  name: string;
  content: string;
  isError: boolean;
  fault?: ToolFault;
  at: string;
  /** the whole result where `content` was cut for the model */
  raw?: string;
  /** the trouble that was injected on purpose into this result */
  injected?: string;
};

/** The monitor's judge was asked whether the dialogue is over. */
export type VerdictEntry = { type: "verdict"; stop: boolean; reason: string; usage: Usage; at: string };

export type Entry = ReplyEntry | ToolResultEntry | VerdictEntry;

/** Why a tool result is an error: the model's mistakes apart from the tool's own answer. */
export type ToolFault = "unknown_tool" | "malformed_arguments" | "invalid_arguments" | "tool_error";
