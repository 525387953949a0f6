// What spans say, in the words of the conventions for generative AI
// (github.com/open-telemetry/semantic-conventions-genai, November 2026); what those have no word for is `rollout.…`.
import type { Attributes } from "@opentelemetry/api";
import {
  type ChatMessage,
  cutText,
  type Finish,
  type ModelReply,
  type ModelRequest,
  parseJson,
  type RolloutEvent,
  redactSaid,
  redactSaidJson,
  type ToolCall,
  type ToolResult,
} from "../core/index.ts";
import type { ClientSource } from "../models/index.ts";

/** Who answers: of every call, and, for the agent, of the whole rollout. */
export type ModelSource = Pick<ClientSource, "id" | "scripted" | "facts">;

export function modelAttributes({ id, facts }: ModelSource): Attributes {
  const { provider = id.split("/")[0] as string, model = id } = facts.endpoint ?? {};
  return clean({ "gen_ai.provider.name": WELL_KNOWN[provider] ?? provider, "gen_ai.request.model": model });
}

/** Replicas have several addresses: then none is said. */
export function serverAttributes({ facts }: ModelSource): Attributes {
  const [url, ...others] = facts.endpoint?.baseUrls ?? [];
  if (url === undefined || others.length > 0 || !URL.canParse(url)) return {};
  const { hostname, port, protocol } = new URL(url);
  return { "server.address": hostname, "server.port": Number(port) || (protocol === "http:" ? 80 : 443) };
}

/** Our catalogue's names, where the conventions have others. */
const WELL_KNOWN: { [provider: string]: string } = {
  azure: "azure.ai.openai",
  bedrock: "aws.bedrock",
  google: "gcp.gemini",
  mistral: "mistral_ai",
  moonshot: "moonshot_ai",
  "moonshotai-cn": "moonshot_ai",
  xai: "x_ai",
};

export function replyAttributes({ usage, finish, served, malformed }: ModelReply): Attributes {
  return {
    "gen_ai.response.finish_reasons": [FINISH[finish]],
    "gen_ai.response.model": served?.model && redactSaid(served.model),
    "gen_ai.response.id": served?.id && redactSaid(served.id),
    ...usageAttributes(usage),
    ...(malformed ? { "error.type": "malformed_reply" } : {}),
  };
}

export function usageAttributes(usage: ModelReply["usage"]): Attributes {
  const { inputTokens, outputTokens, cachedTokens, reasoningTokens } = usage;
  return {
    "gen_ai.usage.input_tokens": inputTokens,
    "gen_ai.usage.output_tokens": outputTokens,
    "gen_ai.usage.cache_read.input_tokens": cachedTokens || undefined,
    "gen_ai.usage.reasoning.output_tokens": reasoningTokens || undefined,
  };
}

const FINISH: { [finish in Finish]: string } = {
  stop: "stop",
  "tool-calls": "tool_call",
  length: "length",
  "context-length": "length",
  "content-filter": "content_filter",
  other: "other",
};

/** Names and ids that a model wrote may be of any length. */
export function callAttributes({ id, name }: ToolCall): Attributes {
  return {
    "gen_ai.operation.name": "execute_tool",
    "gen_ai.tool.name": cutText(redactSaid(name), MAX_NAME),
    "gen_ai.tool.call.id": cutText(redactSaid(id), MAX_NAME),
    "gen_ai.tool.type": "function",
  };
}

const MAX_NAME = 100;

export function endAttributes(end: Extract<RolloutEvent, { type: "rollout-end" }>): Attributes {
  const { outcome, turns, toolCalls } = end;
  return {
    "rollout.stop_reason": outcome.stopReason,
    "rollout.success": outcome.success,
    "rollout.blame": outcome.blame,
    "rollout.turns": turns,
    "rollout.tool_calls": toolCalls,
  };
}

/** Only if content is asked for. */
export function requestContent({ system, messages }: ModelRequest): Attributes {
  return {
    "gen_ai.system_instructions": toText([{ type: "text", content: system }]),
    "gen_ai.input.messages": toText(messages.map(toMessage)),
  };
}

export function replyContent({ content, reasoning, toolCalls, finish }: ModelReply): Attributes {
  const message = toMessage({ role: "assistant", content, reasoning, toolCalls });
  return { "gen_ai.output.messages": toText([{ ...message, finish_reason: FINISH[finish] }]) };
}

export function callContent(call: ToolCall): Attributes {
  return { "gen_ai.tool.call.arguments": redactSaidJson(call.arguments) };
}

export function resultContent({ content }: ToolResult): Attributes {
  return { "gen_ai.tool.call.result": redactSaidJson(content) };
}

type Part = { type: string; [member: string]: unknown };

function toMessage(message: ChatMessage): { role: string; parts: Part[] } {
  const { role } = message;
  if (message.role === "tool")
    return { role, parts: [{ type: "tool_call_response", id: message.callId, response: message.content }] };
  const { reasoning, toolCalls = [] } = message.role === "assistant" ? message : {};
  return {
    role,
    parts: [
      ...(reasoning ? [{ type: "reasoning", content: reasoning }] : []),
      ...(message.content === "" ? [] : [{ type: "text", content: message.content }]),
      ...toolCalls.map(({ id, name, arguments: given }) => ({
        type: "tool_call",
        id,
        name,
        arguments: parseJson(given) ?? given,
      })),
    ],
  };
}

/** Values with structure go into spans as JSON text. */
function toText(value: unknown): string {
  return redactSaidJson(JSON.stringify(value));
}

/** Texts come from datasets, models and servers: no key among them leaves. */
export function clean(attributes: Attributes): Attributes {
  for (const name in attributes) {
    const value = attributes[name];
    if (typeof value === "string") attributes[name] = redactSaid(value);
  }
  return attributes;
}
