// What travels between the parties and the models, independent of the wire format.
import { addCosts, type Cost } from "./cost.ts";
import type { Json, JsonObject } from "./json.ts";

export type Party = "agent" | "user";

/** `arguments` is the raw text as the model emitted it; `originalId` is set if the model's own id was unusable. */
export type ToolCall = { id: string; name: string; arguments: string; originalId?: string };

export type Usage = Cost & {
  inputTokens: number;
  outputTokens: number;
  cachedTokens: number;
  reasoningTokens: number;
  /** a script's estimate: it is in no total */
  scripted?: true;
};

/** `length`: cut by the longest reply that was asked for; `context-length`: by the end of the context. */
export type Finish = "stop" | "tool-calls" | "length" | "context-length" | "content-filter" | "other";

export type ChatMessage =
  | { role: "user"; content: string }
  | { role: "assistant"; content: string; reasoning?: string; opaque?: Json; toolCalls?: ToolCall[] }
  | { role: "tool"; callId: string; name: string; content: string; isError: boolean };

/** As records and queries write it. */
export type TrajectoryMessage =
  | { role: "user"; content: string }
  | {
      role: "assistant";
      content: string;
      reasoning_content?: string;
      tool_calls?: { id: string; type: "function"; function: { name: string; arguments: string } }[];
    }
  | { role: "tool"; content: string; tool_call_id: string };

export type ToolSpec = {
  name: string;
  description: string;
  /** JSON Schema of the arguments */
  parameters: JsonObject;
  /** calls of read-only tools in one reply run concurrently */
  readOnly: boolean;
  /** other members of the function as its list has them, such as `strict` */
  others?: JsonObject;
};

export const NO_USAGE: Usage = { inputTokens: 0, outputTokens: 0, cachedTokens: 0, reasoningTokens: 0, costUsd: 0 };

/** The total usage of all replies and verdicts among these. */
export function sumUsage(entries: Iterable<{ usage?: Usage }>): Usage {
  let sum = NO_USAGE;
  for (const { usage } of entries) if (usage) sum = addUsage(sum, usage);
  return sum;
}

export function addUsage(a: Usage, b: Usage): Usage {
  return {
    inputTokens: a.inputTokens + b.inputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
    cachedTokens: a.cachedTokens + b.cachedTokens,
    reasoningTokens: a.reasoningTokens + b.reasoningTokens,
    ...addCosts(a, b),
  };
}

/** In the form that models and trainers expect. */
export function toFunctionTools(tools: readonly ToolSpec[]): JsonObject[] {
  return tools.map(({ name, description, parameters, others }) => ({
    type: "function",
    function: { name, description, parameters, ...others },
  }));
}
