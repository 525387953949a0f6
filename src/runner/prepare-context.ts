// How long the agent's context is, and what happens before it is full.
import type { DatasetSpec, ResolvedRun } from "../config/index.ts";
import { UsageError } from "../core/index.ts";
import type { ContextPolicy } from "../dialogue/index.ts";
import { type ClientSource, type CreateNetworkClient, createClientSource } from "../models/index.ts";

export type PreparedContext = Pick<ContextPolicy, "limit" | "onFull"> & { summariser: ClientSource };

/** Kept free for the reply, unless `max_tokens` says how long that may be. */
const REPLY_SHARE = 1 / 8;

/** Undefined if the dialogue goes on until the server refuses. */
export function prepareContext(
  { summary }: Pick<ResolvedRun, "summary">,
  { name, context, agent: party }: Pick<DatasetSpec, "name" | "context" | "agent">,
  agent: ClientSource,
  createNetworkClient: CreateNetworkClient,
): PreparedContext | undefined {
  const { onFull } = context;
  const known = context.limit ?? (onFull === "end" ? undefined : agent.facts.contextLength);
  if (known === undefined && onFull === "summarise")
    throw new UsageError(
      `${name}: how long the context of ${agent.id} is, is not known; say it with --context-limit (context_limit), so that it can be summarised in time`,
    );
  if (known === undefined) return undefined;
  const reply = party.settings.maxTokens ?? Math.ceil(known * REPLY_SHARE);
  if (reply >= known)
    throw new UsageError(`${name}: max_tokens of the agent (${reply}) leaves nothing of a context of ${known} tokens`);
  const summariser = summary && onFull === "summarise" ? createClientSource(summary, createNetworkClient) : agent;
  return { limit: known - reply, onFull, summariser };
}
