// A reply that ends where the context ends was cut by the context, not by `max_tokens`.
import type { ModelReply } from "../core/index.ts";
import type { ResolvedModel } from "./resolved.ts";

/** By the server's own counts, where the registry or the catalogue knows how long the context is. */
export function labelCut(reply: ModelReply, { contextLength }: ResolvedModel): ModelReply {
  const { inputTokens, outputTokens } = reply.usage;
  const isFull = contextLength !== undefined && inputTokens + outputTokens >= contextLength;
  return reply.finish === "length" && isFull ? { ...reply, finish: "context-length" } : reply;
}
