// A task's message history as the opening of a dialogue.
import { isObject, type Json, type JsonObject, writeExact } from "../../core/index.ts";
import { Uncarried } from "../tally.ts";

export type Opening = {
  messages: JsonObject[];
  /** the calls of both parties, where the user's are among them: an opening shows only the agent's */
  calls: JsonObject[] | undefined;
};

export function readHistory(history: Json | undefined): Opening {
  const messages = (Array.isArray(history) ? history : []).flatMap(flatten);
  const calls = messages.flatMap((message) => callsOf(message));
  if (!calls.some(({ requestor }) => requestor === "user"))
    return { messages: messages.flatMap((message) => toMessage(message)), calls: undefined };
  const spoken = messages.filter(({ role }) => role !== "tool").map(({ tool_calls: _, ...message }) => message);
  return { messages: spoken.flatMap((message) => toMessage(message as JsonObject)), calls };
}

/** Several results may be one message. */
function flatten(message: Json): JsonObject[] {
  if (!isObject(message)) throw new Uncarried("its message history is not a list of messages");
  const several = (message as JsonObject).tool_messages;
  return Array.isArray(several) ? (several as JsonObject[]) : [message as JsonObject];
}

function callsOf({ role, tool_calls }: JsonObject): JsonObject[] {
  if (!Array.isArray(tool_calls)) return [];
  return (tool_calls as JsonObject[]).map(({ name, arguments: args, requestor, id }) => {
    const by = requestor ?? (role === "user" ? "user" : "assistant");
    return { id: id ?? "", name: name ?? "", arguments: args ?? {}, requestor: by };
  });
}

function toMessage(message: JsonObject): JsonObject[] {
  const { role, content, id } = message;
  if (role === "tool") return [{ role, tool_call_id: id ?? "", content: content ?? "" }];
  if (role !== "user" && role !== "assistant") return [];
  const calls = callsOf(message).map(({ id: callId, name, arguments: args }) => ({
    id: callId as Json,
    type: "function",
    function: { name: name as Json, arguments: writeExact(args) },
  }));
  if (calls.length > 0) return [{ role, content: content ?? null, tool_calls: calls }];
  return typeof content === "string" && content !== "" ? [{ role, content }] : [];
}
