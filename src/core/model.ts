// The interface to every model: scripted, over the network, from a cassette.
import type { Json } from "./json.ts";
import type { ChatMessage, Finish, Party, ToolCall, ToolSpec, Usage } from "./message.ts";
import type { Mode } from "./query.ts";

export type ModelRequest = {
  system: string;
  messages: ChatMessage[];
  tools: ToolSpec[];
  toolChoice: "auto" | "none";
  /** texts that the reply ends before, where the wire has a place for them */
  stop?: string[];
  origin: RequestOrigin;
};

/** Everybody who is a model: the two that talk, the monitor's judge, and who summarises. */
export type ModelParty = Party | "judge" | "summary";

/** Which call of which rollout this is: for seeds, cassettes, stickiness and scripted models; never sent as is. */
export type RequestOrigin = {
  dataset: string;
  queryId: string;
  rollout: number;
  seed: number;
  mode: Mode;
  party: ModelParty;
  /** how many calls this party has already made in this rollout */
  position: number;
};

export type ModelReply = {
  content: string;
  reasoning?: string;
  /** what a provider wants back untouched: signatures, encrypted reasoning */
  opaque?: Json;
  toolCalls: ToolCall[];
  usage: Usage;
  finish: Finish;
  /** the server could not parse what the model wrote, and gives it as the text */
  malformed?: true;
  /** the tool calls were written as text and parsed from it */
  recovered?: true;
  /** how a reply in a text format departs from it */
  formatFaults?: FormatFault[];
  /** how many of its texts held a key, now struck out */
  redactedTexts?: number;
  /** the counts that the server reported but that cannot be true; they are taken as nothing */
  droppedUsage?: string[];
  /** what the server said about itself and this reply */
  served?: Served;
  /** a script wrote this, not a model: the endpoint is a rehearsal */
  scripted?: true;
};

/** `content` is what was dropped. */
export type FormatFault = {
  type: "unclosed_call" | "fenced_call" | "text_after_call" | "made_up_result" | "no_final_answer";
  content?: string;
};

export type Served = {
  /** as the server names it: an alias, a fallback or a proxy may answer with another than was asked for */
  model?: string;
  /** the model that was asked for, if that is another one */
  insteadOf?: string;
  id?: string;
  fingerprint?: string;
  /** those that tell where the answer comes from */
  headers?: { [name: string]: string };
};

/** How long a reply's reasoning stays in the agent's context: for its turn, or, if it called tools, for the dialogue. */
export type ReasoningSpan = "turn" | "dialogue";

export interface ModelClient {
  /** the name that records carry */
  readonly id: string;
  complete(request: ModelRequest, signal: AbortSignal): Promise<ModelReply>;
}
