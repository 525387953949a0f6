// What people should know before a run is paid for: a model that its provider is not known to serve, a context that will
// hardly hold the dialogues, and a cost budget that cannot be enforced because a price is unknown. One line each.

import type { ResolvedRun } from "../config/index.ts";
import { catalogueMade, countTokens, suggestModels } from "../models/index.ts";
import type { PreparedDataset } from "../runner/index.ts";
import { fixedTexts, growthOf, shapeOf } from "./estimate.ts";

/** A typical dialogue above this share of the context may overflow it. */
const NEAR_SHARE = 0.8;

export async function preflight(run: ResolvedRun, datasets: readonly PreparedDataset[]): Promise<string[]> {
  const contexts = await Promise.all(datasets.map(contextWarning));
  return [...nameWarnings(datasets), ...contexts.flat(), ...priceWarning(run, datasets)];
}

function sourcesOf({ agent, user, judge, context }: PreparedDataset) {
  return [agent, user, judge, context?.summariser];
}

function nameWarnings(datasets: readonly PreparedDataset[]): string[] {
  const sources = datasets.flatMap(sourcesOf);
  const unlisted = new Set(sources.flatMap((source) => (source?.facts.unlisted ? [source.id] : [])));
  return [...unlisted].map((id) => {
    const near = suggestModels(id);
    const meant = near.length > 0 ? `; did you mean ${near.join(" or ")}?` : ".";
    return `${id} is not among the models of that provider that the catalogue of ${catalogueMade().date} knows${meant} It is used as it is.`;
  });
}

async function contextWarning(dataset: PreparedDataset): Promise<string[]> {
  const { agent, spec, context } = dataset;
  if (!context && spec.context.onFull !== "end" && !agent.scripted)
    return [
      `${spec.name}: how long the context of ${agent.id} is, is not known; a dialogue that fills it ends as context_overflow, unless --context-limit says it`,
    ];
  const { contextLength } = agent.facts;
  if (contextLength === undefined || context) return [];
  const texts = fixedTexts(dataset);
  const growth = growthOf(shapeOf(dataset));
  // tokenizers hardly ever make more tokens than characters: most contexts are so large that nothing needs counting
  const most = texts.reduce((total, text) => total + text.length, growth);
  if (most < contextLength * NEAR_SHARE) return [];
  const fixed = await countTokens(...texts);
  const full = Math.round(fixed + growth);
  if (full < contextLength * NEAR_SHARE) return [];
  return [
    `${spec.name}: system prompt and tools take about ${fixed} tokens, a typical dialogue about ${full}; ${agent.id} has a context of ${contextLength}, so rollouts may end as context_overflow`,
  ];
}

function priceWarning({ config }: ResolvedRun, datasets: readonly PreparedDataset[]): string[] {
  if (config.max_cost === undefined && config.max_rollout_cost === undefined) return [];
  const sources = datasets.flatMap(sourcesOf);
  const unknown = new Set(sources.flatMap((source) => (source && !source.facts.prices ? [source.id] : [])));
  if (unknown.size === 0) return [];
  return [
    `The price of ${[...unknown].join(" and ")} is not known, so a budget in dollars counts only what the endpoint itself reports; set input_cost_per_token and output_cost_per_token in the model registry, or use --max-tokens-total`,
  ];
}
