// A chat completion in our terms. What is missing or odd gets the plainest meaning; nothing is guessed.
import {
  type Finish,
  isObject,
  type Json,
  type JsonObject,
  type ModelReply,
  type ToolCall,
  writeExact,
} from "../../core/index.ts";
import { joinReasoning, splitThinking } from "../reasoning.ts";
import type { Prices } from "../resolved.ts";
import { chargeFor, UsageReader } from "../usage.ts";

/** `message` is a choice's message, `finishReason` its finish reason in the server's words. */
export type Choice = { message: Record<string, unknown>; finishReason: string };

export function readReply(choice: Choice, usage: unknown, prices: Prices | undefined): ModelReply {
  const { message } = choice;
  const { text, thoughts } = readContent(message.content);
  const split = splitThinking(text);
  const toolCalls = readCalls(message);
  const details = Array.isArray(message.reasoning_details) ? (message.reasoning_details as Json[]) : [];
  const own = firstText(message.reasoning_content, message.reasoning) ?? firstText(thoughts, detailsText(details));
  const refusal = firstText(message.refusal);
  const reply: ModelReply = {
    content: split.content === "" && refusal ? refusal : split.content,
    toolCalls,
    ...readUsage(usage, prices),
    finish: refusal ? "content-filter" : readFinish(choice.finishReason, toolCalls.length > 0),
  };
  const reasoning = joinReasoning(own, split.reasoning);
  if (reasoning !== undefined) reply.reasoning = reasoning;
  const opaque = readOpaque(message, details);
  if (opaque) reply.opaque = opaque;
  return reply;
}

/** A text, or Mistral-style parts of text and thinking. */
function readContent(content: unknown): { text: string; thoughts: string } {
  if (typeof content === "string") return { text: content, thoughts: "" };
  const parts = Array.isArray(content) ? content.filter(isObject) : [];
  const join = (texts: unknown[]) => texts.filter((text) => typeof text === "string").join("");
  return {
    text: join(parts.map((part) => part.text)),
    thoughts: join(
      parts.flatMap(({ thinking }) => (Array.isArray(thinking) ? thinking.map((part) => part?.text) : [thinking])),
    ),
  };
}

/** Arguments stay the text they were; an object that a server sends becomes its text. Ids stay as they came. */
function readCalls(message: Record<string, unknown>): ToolCall[] {
  const calls = Array.isArray(message.tool_calls) ? message.tool_calls.filter(isObject) : [];
  const legacy = isObject(message.function_call) ? [{ function: message.function_call }] : [];
  return [...calls, ...(calls.length > 0 ? [] : legacy)].map((call: Record<string, unknown>) => {
    const called = isObject(call.function) ? call.function : call;
    return {
      id: typeof call.id === "string" ? call.id : "",
      name: typeof called.name === "string" ? called.name : "",
      arguments: typeof called.arguments === "string" ? called.arguments : writeExact(called.arguments ?? {}),
    };
  });
}

/** What the provider wants back untouched: its list of reasoning blocks, and what comes with single calls (Google). */
function readOpaque(message: Record<string, unknown>, details: Json[]): JsonObject | undefined {
  const calls = Array.isArray(message.tool_calls) ? message.tool_calls.filter(isObject) : [];
  const extras = calls.map((call) => (call.extra_content ?? null) as Json);
  const opaque: JsonObject = {};
  if (details.length > 0) opaque.reasoning_details = details;
  if (extras.some((extra) => extra !== null)) opaque.extra_content = extras;
  return Object.keys(opaque).length > 0 ? opaque : undefined;
}

function detailsText(details: Json[]): string {
  return details.map((detail) => (isObject(detail) ? (firstText(detail.text, detail.summary) ?? "") : "")).join("");
}

const FINISHES: { [reason: string]: Finish } = {
  stop: "stop",
  end_turn: "stop",
  eos: "stop",
  eos_token: "stop",
  stop_sequence: "stop",
  tool_calls: "tool-calls",
  tool_use: "tool-calls",
  function_call: "tool-calls",
  length: "length",
  max_tokens: "length",
  model_length: "length",
  content_filter: "content-filter",
  safety: "content-filter",
  sensitive: "content-filter",
  refusal: "content-filter",
};

/** Many servers say "stop" even with tool calls; a cut or filtered reply stays one, with calls or without. */
function readFinish(reason: string, hasCalls: boolean): Finish {
  const finish = FINISHES[reason.toLowerCase()] ?? (reason === "" ? "stop" : "other");
  return hasCalls && (finish === "stop" || finish === "other") ? "tool-calls" : finish;
}

function readUsage(value: unknown, prices: Prices | undefined): Pick<ModelReply, "usage" | "droppedUsage"> {
  const usage = isObject(value) ? value : {};
  const read = new UsageReader();
  const inputDetails = isObject(usage.prompt_tokens_details) ? usage.prompt_tokens_details : {};
  const outputDetails = isObject(usage.completion_tokens_details) ? usage.completion_tokens_details : {};
  const inputTokens = read.tokens("prompt_tokens", usage.prompt_tokens);
  const reasoningTokens = read.tokens("reasoning_tokens", outputDetails.reasoning_tokens ?? usage.reasoning_tokens);
  const cached = read.tokens("cached_tokens", inputDetails.cached_tokens ?? usage.prompt_cache_hit_tokens);
  const cachedTokens = Math.min(inputTokens, cached);
  let outputTokens = read.tokens("completion_tokens", usage.completion_tokens);
  // some count reasoning separately from the completion, which shows in their total
  const counted = inputTokens + outputTokens;
  if (reasoningTokens > 0 && usage.total_tokens === counted + reasoningTokens) outputTokens += reasoningTokens;
  const tokens = { inputTokens, outputTokens, cachedTokens, reasoningTokens };
  const reported = prices ? null : read.dollars("cost", usage.cost);
  const costUsd = chargeFor(tokens, prices, { read, reported });
  const charged = { inputTokens, outputTokens, cachedTokens, reasoningTokens, costUsd };
  return { usage: charged, ...read.note };
}

function firstText(...candidates: unknown[]): string | undefined {
  return candidates.find((text): text is string => typeof text === "string" && text !== "");
}
