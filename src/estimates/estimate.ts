// What a rollout will take, before anything is paid for: counted from prompts and tools, the queries' reference plans
// if they have any, and otherwise from typical values. Every assumption can be printed.

import { addCosts, type Cost, listPlannedCalls, NO_COST, type Query, sum } from "../core/index.ts";
import { userSystemPrompt } from "../dialogue/index.ts";
import { type ClientSource, countTokens, formatSystem } from "../models/index.ts";
import type { PreparedDataset } from "../runner/index.ts";

export type RolloutEstimate = Cost & {
  /** model calls of all parties */
  calls: number;
  /** without those of scripted models */
  inputTokens: number;
  outputTokens: number;
  seconds: number;
  /** tokens of the agent's last request, and how many of them are already in the first one */
  agentContext: { full: number; fixed: number };
};

/** A dialogue, if nothing better is known. */
const TYPICAL = {
  turns: 6,
  toolCallsPerTurn: 1.5,
  replyTokens: 100,
  reasoningTokens: 400,
  userReplyTokens: 40,
  resultTokens: 250,
  secondsPerCall: 3,
} as const;

export const ASSUMPTIONS =
  `Assumed: turns and tool calls as in the queries' reference plans, else ${TYPICAL.turns} turns of ` +
  `${TYPICAL.toolCallsPerTurn} tool calls; ${TYPICAL.replyTokens} tokens a reply (${TYPICAL.reasoningTokens} more with ` +
  `thinking), ${TYPICAL.resultTokens} a tool result, ${TYPICAL.secondsPerCall} s a call, no cache discount. ` +
  "--pilot N measures instead.";

export async function estimateRollout(dataset: PreparedDataset): Promise<RolloutEstimate> {
  const { agent, user, judge, spec } = dataset;
  const shape = shapeOf(dataset);
  const reply = TYPICAL.replyTokens + (spec.agent.settings.thinking ? TYPICAL.reasoningTokens : 0);
  const fixed = await countTokens(...fixedTexts(dataset));
  const growth = growthOf(shape);
  const first = dataset.queries.load(0);
  const userFixed = user ? await countTokens(userSystemPrompt(first, spec.user.prompt)) : 0;
  const said = TYPICAL.replyTokens + TYPICAL.userReplyTokens;
  const parties = [
    {
      source: agent,
      calls: shape.agentCalls,
      input: shape.agentCalls * fixed + (growth * Math.max(shape.agentCalls - 1, 0)) / 2,
      output: shape.agentCalls * reply,
    },
    {
      source: user,
      calls: user ? shape.turns : 0,
      input: user ? shape.turns * userFixed + (said * shape.turns * (shape.turns + 1)) / 2 : 0,
      output: user ? shape.turns * TYPICAL.userReplyTokens : 0,
    },
    {
      source: judge,
      calls: judge ? shape.turns : 0,
      input: judge ? (shape.turns * growth) / 2 : 0,
      output: judge ? shape.turns * TYPICAL.userReplyTokens : 0,
    },
  ].filter(({ source }) => source !== undefined);
  const real = parties.filter(({ source }) => !source?.scripted);
  return {
    calls: sum(parties.map(({ calls }) => calls)),
    inputTokens: sum(real.map(({ input }) => input)),
    outputTokens: sum(real.map(({ output }) => output)),
    ...real.map(costOf).reduce(addCosts, NO_COST),
    seconds: sum(parties.map(({ source, calls }) => (source?.scripted ? 0 : calls * TYPICAL.secondsPerCall))),
    agentContext: { full: fixed + growth, fixed },
  };
}

/** What is in every request of the agent. */
export function fixedTexts({ systemOf, queries, agent, domain, spec }: PreparedDataset): string[] {
  const tools = spec.mode === "no_tool" ? [] : domain.toolbox.tools;
  const { system } = systemOf(queries.load(0));
  if (agent.toolFormat !== "native") return [formatSystem(agent.toolFormat, system, tools)];
  return [system, ...tools.map(({ name, description, parameters }) => name + description + JSON.stringify(parameters))];
}

type Shape = { turns: number; agentCalls: number; toolCalls: number };

/** Tokens that a dialogue of this shape adds to the agent's first request. */
export function growthOf({ turns, agentCalls, toolCalls }: Shape): number {
  return agentCalls * TYPICAL.replyTokens + toolCalls * TYPICAL.resultTokens + turns * TYPICAL.userReplyTokens;
}

const MAX_PLANS = 50;

export function shapeOf({ queries, spec }: Pick<PreparedDataset, "queries" | "spec">): Shape {
  const step = Math.max(1, Math.floor(queries.size / MAX_PLANS));
  const shapes: Shape[] = [];
  for (let index = 0; index < queries.size && shapes.length < MAX_PLANS; index += step)
    shapes.push(shapeOfQuery(queries.load(index), spec.maxTurns));
  const mean = (part: keyof Shape) => sum(shapes.map((shape) => shape[part])) / shapes.length;
  return { turns: mean("turns"), agentCalls: mean("agentCalls"), toolCalls: mean("toolCalls") };
}

function shapeOfQuery({ taskInfo: { plan } }: Query, maxTurns: number): Shape {
  if (!plan) {
    const turns = Math.min(TYPICAL.turns, maxTurns);
    const toolCalls = turns * TYPICAL.toolCallsPerTurn;
    return { turns, toolCalls, agentCalls: turns + toolCalls };
  }
  const played = plan.slice(0, maxTurns);
  const steps = sum(played.map((turn) => turn.steps?.length ?? 0));
  return { turns: played.length, toolCalls: listPlannedCalls(played).length, agentCalls: played.length + steps };
}

function costOf({ source, input, output }: { source: ClientSource | undefined; input: number; output: number }): Cost {
  const prices = source?.facts.prices;
  if (!prices) return { costUsd: null, costUnknownOf: source ? [source.id] : [] };
  return { costUsd: input * prices.input + output * prices.output };
}
