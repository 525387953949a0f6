// What a tool format is: how tools, calls and results are written as text, and how a reply is read. Adding one is adding
// a file and its name in formats.ts.
import type { ChatMessage, FormatFault, ToolCall, ToolSpec } from "../../core/index.ts";

/** What a reply says besides its calls, which have no ids yet, and how it departs from the format. */
export type TextReply = {
  content: string;
  reasoning?: string;
  calls: Omit<ToolCall, "id">[];
  faults: FormatFault[];
};

/** What is written of an agent's message. */
export type Spoken = Pick<Extract<ChatMessage, { role: "assistant" }>, "content" | "reasoning"> & {
  toolCalls?: readonly Pick<ToolCall, "name" | "arguments">[];
};

export type TextFormat = {
  /** the part of the system prompt that describes the tools, the last one */
  describe(tools: readonly ToolSpec[]): string;
  /** an agent's message, its reasoning included */
  write(message: Spoken, tools: readonly ToolSpec[]): string;
  /** the results of one message's calls, in their order, and what the user says behind them, as one user message */
  writeResults(results: readonly string[], said?: string): string;
  read(text: string, tools: readonly ToolSpec[]): TextReply;
  /** reasoning is part of the text, and not between think tags, which every target treats in its own way */
  hasThoughts?: true;
  /** what ends the last message when no tool may be called; the system prompt stays as it is, for prefix caches */
  toolsOff: string;
  /** what begins a result: a server that can stop there saves what the model would make up */
  stop: string[];
  /** for scripted models: the inverse of `describe`, if a system prompt has such a part */
  readTools(system: string): { system: string; tools: ToolSpec[] } | undefined;
  /** and of `writeResults` */
  readResults(text: string, count: number): { results: string[]; rest: string };
};
