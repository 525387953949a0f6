// What something cost, as people read it: what is not known is never printed as nothing.
import { type Cost, knownCost } from "../../core/index.ts";
import { printableName } from "./terminal.ts";

const MAX_NAMES = 2;

/** `$1.23`, `unknown`, or `$1.23 + unknown`; with the models whose price is missing, if asked for. */
export function costText(
  cost: Cost,
  { names = true, show = (dollars: number) => `$${dollars.toFixed(2)}` } = {},
): string {
  const known = knownCost(cost);
  const dollars = show(known);
  if (cost.costUsd !== null) return dollars;
  return `${known > 0 ? `${dollars} + ` : ""}unknown${names ? unknownOf(cost) : ""}`;
}

/** Why a cost is not known, and what to do about it. */
export function unknownCostLines({ costUsd, costUnknownOf = [] }: Cost): string[] {
  if (costUsd !== null) return [];
  const whose = costUnknownOf.length > 0 ? namesOf(costUnknownOf) : "a model";
  return [
    `What ${whose} cost is not known: set input_cost_per_token and output_cost_per_token in the model registry (0 for a server of your own); a server that counts no tokens leaves it unknown all the same.`,
  ];
}

function unknownOf({ costUnknownOf = [] }: Cost): string {
  return costUnknownOf.length > 0 ? ` of ${namesOf(costUnknownOf)}` : "";
}

function namesOf(models: readonly string[]): string {
  const more = models.length - MAX_NAMES;
  const shown = models.slice(0, more > 1 ? MAX_NAMES : models.length).map(printableName);
  return [...shown, ...(more > 1 ? [`${more} more`] : [])].join(" and ");
}
