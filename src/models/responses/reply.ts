// A response in our terms: its items are text, refusals, calls and reasoning, in the order in which they were made.
import {
  type Finish,
  isObject,
  type Json,
  type ModelReply,
  type ToolCall,
  type Usage,
  writeExact,
} from "../../core/index.ts";
import { joinReasoning, splitThinking } from "../reasoning.ts";
import type { Prices } from "../resolved.ts";
import { chargeFor, UsageReader } from "../usage.ts";

type Asked = { prices: Prices | undefined; maxTokens: unknown };

export function readResponse(response: Record<string, unknown>, { prices, maxTokens }: Asked): ModelReply {
  const items = Array.isArray(response.output) ? response.output.filter(isObject) : [];
  const ofType = (type: string) => items.filter((item) => item.type === type);
  const parts = ofType("message").flatMap(({ content }) => (Array.isArray(content) ? content.filter(isObject) : []));
  const refusal = textsOf(parts, "refusal");
  const { content, reasoning: inline } = splitThinking(textsOf(parts, "text"));
  const toolCalls = ofType("function_call").map(readCall);
  const thoughts = ofType("reasoning");
  const reply: ModelReply = {
    content: content === "" ? refusal : content,
    toolCalls,
    ...readUsage(response.usage, prices),
    finish: refusal === "" ? readFinish(response, toolCalls.length > 0) : "content-filter",
  };
  const isWhole = reply.finish === "stop" || reply.finish === "tool-calls";
  if (isWhole && isSilentlyCut(response, reply.usage, maxTokens)) reply.finish = "length";
  const reasoning = joinReasoning(thoughts.map(thoughtOf).filter(Boolean).join("\n\n") || undefined, inline);
  if (reasoning !== undefined) reply.reasoning = reasoning;
  if (thoughts.length > 0) reply.opaque = { reasoning_items: thoughts.map(withoutStatus) as Json };
  return reply;
}

function textsOf(parts: readonly Record<string, unknown>[], member: "text" | "refusal"): string {
  return parts.map((part) => (typeof part[member] === "string" ? part[member] : "")).join("");
}

function readCall(item: Record<string, unknown>): ToolCall {
  const { call_id: id, name, arguments: given } = item;
  return {
    id: typeof id === "string" ? id : "",
    name: typeof name === "string" ? name : "",
    arguments: typeof given === "string" ? given : writeExact(given ?? {}),
  };
}

/** Open models show their thoughts, OpenAI's a summary of them. */
function thoughtOf({ content, summary }: Record<string, unknown>): string {
  const texts = (list: unknown) => textsOf(Array.isArray(list) ? list.filter(isObject) : [], "text");
  return texts(content) || (Array.isArray(summary) ? summary : []).map((part) => texts([part])).join("\n\n");
}

/** What the API adds to an item of its own, and refuses in one that is sent. */
function withoutStatus({ status: _status, ...item }: Record<string, unknown>): Record<string, unknown> {
  return item;
}

function readFinish({ status, incomplete_details: details }: Record<string, unknown>, hasCalls: boolean): Finish {
  const reason = isObject(details) ? details.reason : undefined;
  if (reason === "content_filter") return "content-filter";
  if (status === "incomplete") return "length";
  return hasCalls ? "tool-calls" : "stop";
}

/**
 * llama.cpp, also behind LiteLLM, calls a cut reply completed; its token count shows the cut. Servers that tell a cut from
 * a whole reply repeat the limit in their answer.
 */
function isSilentlyCut(response: Record<string, unknown>, { outputTokens }: Usage, maxTokens: unknown): boolean {
  const knowsLimit = typeof response.max_output_tokens === "number";
  return !knowsLimit && typeof maxTokens === "number" && outputTokens >= maxTokens;
}

function readUsage(value: unknown, prices: Prices | undefined): Pick<ModelReply, "usage" | "droppedUsage"> {
  const usage = isObject(value) ? value : {};
  const read = new UsageReader();
  const details = (member: unknown) => (isObject(member) ? member : {});
  const inputTokens = read.tokens("input_tokens", usage.input_tokens);
  const outputTokens = read.tokens("output_tokens", usage.output_tokens);
  const cached = read.tokens("cached_tokens", details(usage.input_tokens_details).cached_tokens);
  const cachedTokens = Math.min(inputTokens, cached);
  const reasoningTokens = read.tokens("reasoning_tokens", details(usage.output_tokens_details).reasoning_tokens);
  const tokens = { inputTokens, outputTokens, cachedTokens, reasoningTokens };
  const reported = prices ? null : read.dollars("cost", usage.cost);
  const costUsd = chargeFor(tokens, prices, { read, reported });
  return { usage: { ...tokens, costUsd }, ...read.note };
}
