// Agents, users and judges in code: a function that answers a request is a model.
import {
  type ModelClient,
  type ModelReply,
  type ModelRequest,
  messageOf,
  NO_USAGE,
  RolloutError,
  redactText,
  type Usage,
} from "../core/index.ts";
import type { CreateNetworkClient } from "./client-source.ts";
import { estimateTokens } from "./estimate.ts";
import { withRedaction } from "./redact-reply.ts";
import { UsageReader } from "./usage.ts";

/** A text, or the parts of a reply that there are: `content`, `toolCalls`, `reasoning`, `usage`. */
export type Answer = string | Partial<ModelReply>;
export type AnswerRequest = (request: ModelRequest, signal: AbortSignal) => Answer | Promise<Answer>;

/** By the name under which a config asks for them. */
export type OwnModels = { [name: string]: ModelClient | AnswerRequest };

/** All other names go to the network. */
export function withOwnModels(own: OwnModels, createNetworkClient: CreateNetworkClient): CreateNetworkClient {
  return (party) => {
    const model = Object.hasOwn(own, party.model) ? own[party.model] : undefined;
    return model
      ? withRedaction(guard(typeof model === "function" ? toClient(party.model, model) : model))
      : createNetworkClient(party);
  };
}

function toClient(id: string, answer: AnswerRequest): ModelClient {
  return {
    id,
    async complete(request, signal) {
      const answered = await answer(request, signal);
      return completeReply(typeof answered === "string" ? { content: answered } : answered, request);
    },
  };
}

function completeReply(answered: Partial<ModelReply>, request: ModelRequest): ModelReply {
  const { content = "", toolCalls = [] } = answered;
  const written = content.length + toolCalls.reduce((sum, call) => sum + call.name.length + call.arguments.length, 0);
  const inputTokens = estimateTokens(request);
  const usage = { ...NO_USAGE, inputTokens, outputTokens: Math.ceil(written / 4), costUsd: null };
  return { content, toolCalls, usage, finish: toolCalls.length > 0 ? "tool-calls" : "stop", ...answered };
}

/** What the code throws ends its rollout, not the run; an interrupt stays one. */
function guard(client: ModelClient): ModelClient {
  return {
    id: client.id,
    async complete(request, signal) {
      try {
        const reply = await client.complete(request, signal);
        return { ...reply, ...believe(reply.usage) };
      } catch (error) {
        if (signal.aborted || error instanceof RolloutError) throw error;
        throw new RolloutError("infrastructure", `The model "${client.id}" threw: ${redactText(messageOf(error))}`, {
          cause: error,
          kind: "own_model",
        });
      }
    },
  };
}

function believe(usage: Usage): Pick<ModelReply, "usage" | "droppedUsage"> {
  const read = new UsageReader();
  return {
    usage: {
      inputTokens: read.tokens("inputTokens", usage.inputTokens),
      outputTokens: read.tokens("outputTokens", usage.outputTokens),
      cachedTokens: read.tokens("cachedTokens", usage.cachedTokens),
      reasoningTokens: read.tokens("reasoningTokens", usage.reasoningTokens),
      costUsd: read.dollars("costUsd", usage.costUsd),
    },
    ...read.note,
  };
}
