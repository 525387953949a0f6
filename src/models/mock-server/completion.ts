// A reply on the wire, whole or in pieces, as OpenAI-compatible servers write it.
import { type JsonObject, sum } from "../../core/index.ts";
import { lengthOf } from "../scripted/script.ts";
import type { WireReply } from "./damage.ts";
import type { WireRequest } from "./wire-request.ts";

/** `system_fingerprint` says that no model wrote this. */
export type CompletionHead = { id: string; created: number; model: string; system_fingerprint: string };

export type Payload = { contentType: string; text: string };

export function writeCompletion(head: CompletionHead, reply: WireReply, wire: WireRequest): Payload {
  const shown = withInlineReasoning(reply);
  return wire.stream ? writeStream(head, shown, wire) : writeWhole(head, shown, wire);
}

const FINISH_REASONS = {
  stop: "stop",
  "tool-calls": "tool_calls",
  length: "length",
  "context-length": "length",
  "content-filter": "content_filter",
  other: "stop",
};

function writeWhole(head: CompletionHead, reply: WireReply, wire: WireRequest): Payload {
  const message: JsonObject = { role: "assistant", content: reply.content === "" ? null : reply.content };
  if (reply.reasoning !== undefined) message.reasoning_content = reply.reasoning;
  if (reply.refusal !== undefined) message.refusal = reply.refusal;
  if (reply.toolCalls.length > 0) message.tool_calls = callsOf(reply);
  const choices = [{ index: 0, message, finish_reason: FINISH_REASONS[reply.finish] }];
  const body = { ...head, object: "chat.completion", choices, usage: usageOf(reply, wire) };
  return { contentType: "application/json", text: JSON.stringify(body) };
}

/** Reasoning first, then text, then each call: its head, then its arguments in pieces. */
function writeStream(head: CompletionHead, reply: WireReply, wire: WireRequest): Payload {
  const deltas: JsonObject[] = [{ role: "assistant", content: "" }];
  for (const piece of pieces(reply.reasoning ?? "")) deltas.push({ reasoning_content: piece });
  for (const piece of pieces(reply.content)) deltas.push({ content: piece });
  if (reply.refusal !== undefined) deltas.push({ refusal: reply.refusal });
  for (const [index, { function: called, ...call }] of callsOf(reply).entries()) {
    deltas.push({ tool_calls: [{ index, ...call, function: { name: called.name, arguments: "" } }] });
    for (const piece of pieces(called.arguments))
      deltas.push({ tool_calls: [{ index, function: { arguments: piece } }] });
  }
  const object = "chat.completion.chunk";
  const chunks: object[] = deltas.map((delta) => ({
    ...head,
    object,
    choices: [{ index: 0, delta, finish_reason: null }],
  }));
  chunks.push({ ...head, object, choices: [{ index: 0, delta: {}, finish_reason: FINISH_REASONS[reply.finish] }] });
  if (wire.includeUsage) chunks.push({ ...head, object, choices: [], usage: usageOf(reply, wire) });
  const lines = [...chunks.map((chunk) => JSON.stringify(chunk)), "[DONE]"];
  return { contentType: "text/event-stream", text: lines.map((line) => `data: ${line}\n\n`).join("") };
}

function withInlineReasoning(reply: WireReply): WireReply {
  if (!reply.inline || reply.reasoning === undefined) return reply;
  const { reasoning, ...rest } = reply;
  return { ...rest, content: `<think>\n${reasoning}\n</think>\n\n${reply.content}` };
}

type WireCall = { id?: string; type: "function"; function: { name: string; arguments: string } };

function callsOf({ toolCalls }: WireReply): WireCall[] {
  return toolCalls.map(({ id, name, arguments: text }) => ({
    id: id || undefined,
    type: "function",
    function: { name, arguments: text },
  }));
}

/** Four characters per token. What came before the last reply in the request counts as cached, in blocks of 64. */
function usageOf(reply: WireReply, { size, messages }: WireRequest): JsonObject {
  const lastReply = messages.findLastIndex(({ role }) => role === "assistant");
  const fresh = sum(messages.slice(Math.max(lastReply, 0)).map(lengthOf));
  const prompt = tokens(size);
  const cached = lastReply === -1 ? 0 : Math.floor(tokens(Math.max(size - fresh, 0)) / 64) * 64;
  const reasoning = tokens((reply.reasoning ?? "").length);
  const written = reply.toolCalls.map((call) => call.name.length + call.arguments.length);
  const completion = reasoning + tokens(reply.content.length + sum(written));
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: { cached_tokens: cached },
    completion_tokens_details: { reasoning_tokens: reasoning },
  };
}

function tokens(characters: number): number {
  return Math.ceil(characters / 4);
}

function pieces(text: string): string[] {
  return text.match(/[\s\S]{1,24}/gu) ?? [];
}
