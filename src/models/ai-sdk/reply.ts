// A package's result in our terms. What is missing or odd gets the plainest meaning; nothing is guessed.
import type { LanguageModelV3GenerateResult, LanguageModelV3Usage } from "@ai-sdk/provider";
import type { Finish, ModelReply, ToolCall } from "../../core/index.ts";
import { joinReasoning, splitThinking } from "../reasoning.ts";
import type { Prices } from "../resolved.ts";
import { chargeFor, UsageReader } from "../usage.ts";
import { toOpaque } from "./opaque.ts";

export function readResult(result: LanguageModelV3GenerateResult, prices: Prices | undefined): ModelReply {
  const texts: string[] = [];
  const thoughts: string[] = [];
  const toolCalls: ToolCall[] = [];
  for (const part of result.content) {
    if (part.type === "text") texts.push(part.text);
    else if (part.type === "reasoning") thoughts.push(part.text);
    else if (part.type === "tool-call" && !part.providerExecuted)
      toolCalls.push({ id: part.toolCallId, name: part.toolName, arguments: part.input });
  }
  const split = splitThinking(texts.join(""));
  const reply: ModelReply = {
    content: split.content,
    toolCalls,
    ...readUsage(result.usage, prices),
    finish: readFinish(result.finishReason.unified, toolCalls.length > 0),
  };
  const reasoning = joinReasoning(thoughts.filter(Boolean).join("\n"), split.reasoning);
  if (reasoning !== undefined) reply.reasoning = reasoning;
  const opaque = toOpaque(result.content);
  if (opaque !== undefined) reply.opaque = opaque;
  return reply;
}

/** A cut or filtered reply stays one, calls or not. What a package calls an error is a call that the model garbled. */
function readFinish(reason: LanguageModelV3GenerateResult["finishReason"]["unified"], hasCalls: boolean): Finish {
  const finish = reason === "error" ? "other" : reason;
  return hasCalls && (finish === "stop" || finish === "other") ? "tool-calls" : finish;
}

/** Writing to a cache costs extra at Anthropic; no other provider counts it. */
const CACHE_WRITE_SURCHARGE = 0.25;

function readUsage(
  { inputTokens: input, outputTokens: output }: LanguageModelV3Usage,
  prices: Prices | undefined,
): Pick<ModelReply, "usage" | "droppedUsage"> {
  const read = new UsageReader();
  const inputTokens = read.tokens("input_tokens", input.total);
  const outputTokens = read.tokens("output_tokens", output.total);
  const reasoningTokens = read.tokens("reasoning_tokens", output.reasoning);
  const cachedTokens = Math.min(inputTokens, read.tokens("cached_tokens", input.cacheRead));
  const written = Math.min(inputTokens - cachedTokens, read.tokens("cache_write_tokens", input.cacheWrite));
  const tokens = { inputTokens, outputTokens, cachedTokens, reasoningTokens };
  const charge = chargeFor(tokens, prices, { read });
  const costUsd = charge === null ? null : charge + written * CACHE_WRITE_SURCHARGE * (prices?.input ?? 0);
  return { usage: { ...tokens, costUsd }, ...read.note };
}
