// What a simulated user may not say to the agent. Such a reply is generated again, and the record keeps all versions.
import type { Finish, ToolSpec } from "../core/index.ts";
import { isTextCall } from "../models/index.ts";
import { readUserText } from "./end-tokens.ts";

export type UserFault =
  | "user_empty"
  | "user_repeats_agent"
  | "user_speaks_as_assistant"
  | "user_calls_tool"
  | "malformed_reply"
  | "user_truncated";

const SPEAKS_AS_ASSISTANT = [
  /^\s*(assistant|agent|ai|system)\s*:/i,
  /\bhow (can|may) i (help|assist) you\b/i,
  /\b(is there )?anything else (that )?i can (help|assist|do for) you\b/i,
  /\bi('d| would) be (happy|glad) to (help|assist) you\b/i,
  /\bas an ai\b/i,
];

export function findUserFault(
  reply: { content: string; toolCalls: readonly unknown[]; finish: Finish; malformed?: true },
  agentsLast: string | undefined,
  tools: readonly ToolSpec[] = [],
  mayCall = false,
): UserFault | undefined {
  if (reply.malformed) return "malformed_reply";
  const { text, end } = readUserText(reply.content);
  if (mayCall && reply.toolCalls.length > 0) return reply.finish === "length" ? "user_truncated" : undefined;
  if (reply.toolCalls.length > 0 || isTextCall(text, tools)) return "user_calls_tool";
  if (text === "" && !end) return reply.finish === "length" ? "user_truncated" : "user_empty";
  if (agentsLast && text.length > 20 && fold(text) === fold(agentsLast)) return "user_repeats_agent";
  if (SPEAKS_AS_ASSISTANT.some((pattern) => pattern.test(text))) return "user_speaks_as_assistant";
  if (reply.finish === "length" && !end) return "user_truncated";
  return undefined;
}

function fold(text: string): string {
  return text.toLowerCase().replace(/\s+/g, " ").trim();
}
