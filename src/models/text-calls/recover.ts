// Tool calls that a model wrote into its text because the server has no parser for its dialect. Read only when asked to,
// only if they are complete, and never repaired; the reply says that they were recovered.
import type { ModelReply, ToolSpec } from "../../core/index.ts";
import { findTextCalls } from "./find-calls.ts";

/** The reply with the calls that its text holds; the same reply if it holds none. */
export function recoverTextCalls(reply: ModelReply, tools: readonly ToolSpec[]): ModelReply {
  const found = reply.toolCalls.length > 0 ? undefined : findTextCalls(reply.content, tools);
  if (!found) return reply;
  const { calls: toolCalls, rest: content } = found;
  const finish = reply.finish === "stop" || reply.finish === "other" ? "tool-calls" : reply.finish;
  const { malformed: _malformed, ...rest } = reply;
  return { ...rest, content, toolCalls, finish, recovered: true };
}
