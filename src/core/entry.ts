// The record of a dialogue while it grows: replies, tool results, summaries and the judge's verdicts, as they happened.
import type { CallParty, ToolResult } from "./environment.ts";
import type { Party, ToolCall, Usage } from "./message.ts";
import type { ModelReply } from "./model.ts";

export type ReplyEntry = ModelReply & {
  type: "reply";
  by: Party;
  at: string;
  /** calls that came with the text although tools were off: counted, never executed */
  ignoredCalls?: ToolCall[];
  /** how many of its texts had halves of surrogate pairs, now U+FFFD */
  repairedTexts?: number;
  /** the context was full, so this was asked for as the last answer */
  contextFull?: true;
  /** why this reply is kept as evidence but is not part of the dialogue; it was requested again */
  rejected?: string;
};

export type ToolResultEntry = ToolResult & {
  type: "tool-result";
  /** undefined: the agent */
  by?: CallParty;
  usage?: undefined;
  callId: string;
  name: string;
  /** as in a reply */
  repairedTexts?: number;
  redactedTexts?: number;
  at: string;
};

/** The context was full: this stands for everything before it from now on, unless it was rejected. */
export type SummaryEntry = Omit<ReplyEntry, "type" | "by"> & { type: "summary" };

/** The monitor's judge was asked whether the dialogue is over. */
export type VerdictEntry = { type: "verdict"; stop: boolean; reason: string; usage: Usage; at: string };

export type Entry = ReplyEntry | ToolResultEntry | SummaryEntry | VerdictEntry;

/** What the agent neither did nor saw: the user's own calls with their results, and the setup's. */
export function isAside(entry: Entry): boolean {
  if (entry.type === "tool-result") return entry.by !== undefined;
  return entry.type === "reply" && entry.by === "user" && entry.toolCalls.length > 0;
}
