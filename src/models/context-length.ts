// A reply that ends where the context ends was cut by the context, not by `max_tokens`.
import type { ModelReply } from "../core/index.ts";
import type { ResolvedModel } from "./resolved.ts";

/**
 * By the server's own counts, where the registry or the catalogue knows how long the context is. Where nobody knows, a
 * reply that nothing of ours limits goes on to the end of the context, whose length is a round number.
 */
export function labelCut(
  reply: ModelReply,
  { contextLength }: Pick<ResolvedModel, "contextLength">,
  maxTokens: number | undefined,
): ModelReply {
  if (reply.finish !== "length") return reply;
  const total = reply.usage.inputTokens + reply.usage.outputTokens;
  const isFull = contextLength === undefined ? maxTokens === undefined && isRound(total) : total >= contextLength;
  return isFull ? { ...reply, finish: "context-length" } : reply;
}

/** 4096, 40960, 10000: as servers are started. */
function isRound(tokens: number): boolean {
  return tokens >= 1000 && (tokens % 256 === 0 || tokens % 1000 === 0);
}
