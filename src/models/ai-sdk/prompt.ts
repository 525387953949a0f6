// A request as the provider packages expect it. Every provider has rules about message lists; this list follows all
// of them: roles alternate, results of one reply are together, nothing is empty, and arguments are always an object.
import type { LanguageModelV3FunctionTool, LanguageModelV3Message, LanguageModelV3Prompt } from "@ai-sdk/provider";
import {
  type ChatMessage,
  type JsonObject,
  type ModelRequest,
  remember,
  type ToolCall,
  type ToolSpec,
  toPlain,
  wellFormed,
} from "../../core/index.ts";
import { validArguments } from "../openai/request.ts";
import type { ResolvedModel } from "../resolved.ts";
import type { AiSdkTraits } from "./dialect.ts";
import { type KeptPart, keptParts } from "./opaque.ts";

type Assistant = Extract<ChatMessage, { role: "assistant" }>;
type Result = Extract<ChatMessage, { role: "tool" }>;
type AssistantPart = Extract<LanguageModelV3Message, { role: "assistant" }>["content"][number];
type ToolPart = Extract<LanguageModelV3Message, { role: "tool" }>["content"][number];

/** What comes first if a list must not start with an assistant message. */
const OPENER = "Hello.";

/** A message of a dialogue never changes: its parts are made once for each client. */
export function createPromptWriter(
  model: ResolvedModel,
  traits: AiSdkTraits,
): (request: ModelRequest) => LanguageModelV3Prompt {
  const replies = remember((message: Assistant) => assistantParts(message, model, traits));
  const results = remember((message: Result) => resultPart(message, traits));
  return (request) => {
    const prompt: LanguageModelV3Prompt = [];
    for (const message of request.messages) add(prompt, message);
    if (traits.userFirst && prompt[0]?.role !== "user") prompt.unshift(userMessage(OPENER));
    if (request.system !== "") prompt.unshift({ role: "system", content: wellFormed(request.system) });
    return prompt;
  };

  function add(prompt: LanguageModelV3Prompt, message: ChatMessage): void {
    const last = prompt.at(-1);
    if (message.role === "tool") {
      const part = results(message);
      if (last?.role === "tool") last.content.push(part);
      else prompt.push({ role: "tool", content: [part] });
    } else if (message.role === "assistant") {
      const parts = replies(message);
      if (parts.length === 0) return;
      if (last?.role === "assistant") last.content.push(...parts);
      else prompt.push({ role: "assistant", content: [...parts] });
    } else if (message.content.trim() !== "") {
      const [before] = last?.role === "user" ? last.content : [];
      const text = wellFormed(message.content);
      if (before?.type === "text") before.text += `\n\n${text}`;
      else prompt.push(userMessage(text));
    }
  }
}

export const toTools = remember((tools: readonly ToolSpec[]) => tools.map(toTool));

function toTool({ name, description, parameters, others }: ToolSpec): LanguageModelV3FunctionTool {
  return {
    type: "function",
    name,
    description,
    // some refuse a schema without a type; the packages copy schemas, and know only ordinary numbers
    inputSchema: toPlain(
      parameters.type === undefined ? { type: "object", properties: {}, ...parameters } : parameters,
    ),
    ...(typeof others?.strict === "boolean" ? { strict: others.strict } : {}),
  };
}

/** What the provider wants back is sent unchanged and in order; calls are taken from the record. */
function assistantParts(message: Assistant, model: ResolvedModel, traits: AiSdkTraits): AssistantPart[] {
  const calls = (message.toolCalls ?? []).map((call) => callPart(call, traits));
  const parts: AssistantPart[] = [];
  for (const part of keptParts(message.opaque) ?? plainParts(message, traits)) {
    const options = part.options && { providerOptions: part.options };
    if (part.type === "text") parts.push({ type: "text", text: part.text, ...options });
    else if (part.type === "reasoning") {
      if (model.reasoning.sendBack) parts.push({ type: "reasoning", text: part.text, ...options });
    } else {
      const call = calls.shift();
      if (call) parts.push({ ...call, ...options });
    }
  }
  return [...parts, ...calls];
}

function plainParts({ content, reasoning }: Assistant, { signsReasoning }: AiSdkTraits): KeptPart[] {
  const parts: KeptPart[] = [];
  if (reasoning !== undefined && !signsReasoning) parts.push({ type: "reasoning", text: wellFormed(reasoning) });
  if (content.trim() !== "") parts.push({ type: "text", text: wellFormed(content) });
  return parts;
}

function callPart(call: ToolCall, { callId }: AiSdkTraits): Extract<AssistantPart, { type: "tool-call" }> {
  return {
    type: "tool-call",
    toolCallId: callId?.(call.id) ?? call.id,
    toolName: validName(call.name),
    input: JSON.parse(validArguments(call.arguments), (_, value: unknown) =>
      typeof value === "string" ? wellFormed(value) : value,
    ) as JsonObject,
  };
}

function resultPart(message: Result, { callId }: AiSdkTraits): ToolPart {
  return {
    type: "tool-result",
    toolCallId: callId?.(message.callId) ?? message.callId,
    toolName: validName(message.name),
    output: { type: message.isError ? "error-text" : "text", value: wellFormed(message.content) },
  };
}

/** Names that a model made up are sent back too, as valid tool names. */
function validName(name: string): string {
  return /^[\w-]{1,64}$/.test(name) ? name : name.replace(/[^\w-]+/g, "_").slice(0, 64) || "unnamed";
}

function userMessage(text: string): LanguageModelV3Message {
  return { role: "user", content: [{ type: "text", text }] };
}
