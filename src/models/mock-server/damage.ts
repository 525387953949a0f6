// Damages a reply the way models and their servers do. Faults that make no sense for a reply are not applied.
import { isObject, type JsonObject, parseJson, type ToolCall, type ToolSpec } from "../../core/index.ts";
import type { FaultKind } from "./fault-spec.ts";
import type { Played } from "./play.ts";
import type { WireRequest } from "./wire-request.ts";

/** A reply as it will appear on the wire. */
export type WireReply = Played["reply"] & {
  refusal?: string;
  /** reasoning goes into the text, between tags */
  inline?: boolean;
};

/** The damaged reply, or undefined if this kind does not apply to it or does not concern replies. */
export function damage(kind: FaultKind, { party, reply }: Played, wire: WireRequest): WireReply | undefined {
  const { toolCalls } = reply;
  const first = toolCalls[0];
  const silent: WireReply = { content: "", toolCalls: [], usage: reply.usage, finish: "stop" };
  switch (kind) {
    case "empty":
      return party === "agent" ? silent : undefined;
    case "user_empty":
      return party === "user" ? silent : undefined;
    case "user_role_swap":
      return party === "user" ? { ...silent, content: "Of course! How can I help you today?" } : undefined;
    case "refusal":
      return { ...silent, refusal: "I'm sorry, but I can't help with that." };
    case "content_filter":
      return { ...silent, finish: "content-filter" };
    case "think":
      return { ...reply, reasoning: reply.reasoning ?? "Let me see what is asked of me.", inline: true };
    case "cut":
      return (
        first && { ...reply, toolCalls: [...toolCalls.slice(0, -1), cut(toolCalls.at(-1) ?? first)], finish: "length" }
      );
    case "malformed":
      return first && replaceCall(reply, { ...first, arguments: `${first.arguments.slice(0, -1)},` }, wire);
    case "unknown_tool":
      return first && replaceCall(reply, { ...first, name: `${first.name}_v2` }, wire);
    case "schema": {
      const broken = first && breakSchema(first, wire.tools);
      return broken && replaceCall(reply, broken, wire);
    }
    case "duplicate_ids":
      return first && { ...reply, toolCalls: toolCalls.map((call) => ({ ...call, id: "call_0" })) };
    case "missing_ids":
      return first && { ...reply, toolCalls: toolCalls.map((call) => ({ ...call, id: "" })) };
    case "text_call":
      return first && { ...reply, content: asText(reply.content, toolCalls), toolCalls: [], finish: "stop" };
    default:
      return undefined;
  }
}

/** Only the wrong call, so that nothing is done twice when the step is replayed; its id marks it as deliberate. */
function replaceCall(reply: WireReply, call: ToolCall, wire: WireRequest): WireReply {
  return { ...reply, toolCalls: [{ ...call, id: `${call.id}_fault${wire.damaged}` }] };
}

function cut(call: ToolCall): ToolCall {
  return { ...call, arguments: call.arguments.slice(0, Math.ceil(call.arguments.length / 2)) };
}

/** Drops a required parameter, else gives one the wrong type. */
function breakSchema(call: ToolCall, tools: readonly ToolSpec[]): ToolCall | undefined {
  const parameters = tools.find(({ name }) => name === call.name)?.parameters ?? {};
  const given = parseJson(call.arguments);
  if (!isObject(given)) return undefined;
  const required = Array.isArray(parameters.required) ? parameters.required : [];
  const missing = Object.keys(given).find((name) => required.includes(name));
  if (missing !== undefined) {
    const rest = Object.entries(given).filter(([name]) => name !== missing);
    return { ...call, arguments: JSON.stringify(Object.fromEntries(rest)) };
  }
  const properties = (isObject(parameters.properties) ? parameters.properties : {}) as { [name: string]: JsonObject };
  const typed = Object.keys(properties).find((name) => typeof properties[name]?.type === "string");
  if (typed === undefined) return undefined;
  const wrong = properties[typed]?.type === "object" ? [] : {};
  return { ...call, arguments: JSON.stringify({ ...given, [typed]: wrong }) };
}

function asText(content: string, calls: readonly ToolCall[]): string {
  const written = calls.map(
    (call) => `<tool_call>\n{"name": ${JSON.stringify(call.name)}, "arguments": ${call.arguments}}\n</tool_call>`,
  );
  return [content, ...written].filter((part) => part !== "").join("\n");
}
