// How a run that stopped goes on: the command, with a larger budget if that is what stopped it.
import type { Config, FullConfig } from "../config/index.ts";
import { knownCost, PROGRAM_COMMAND, quote } from "../core/index.ts";
import { type FailureRecord, isLastAttempt, type Manifest, type RunTally } from "../runs/index.ts";

export type StoppedRun = { tally: RunTally; manifest: Pick<Manifest, "config">; failures: readonly FailureRecord[] };

/** A command that really goes on; `folder` as the reader would write it. */
export function resumeCommand(folder: string, { tally, manifest, failures }: StoppedRun, now: number): string {
  const config = manifest.config as Config;
  const isSpent = tally.stoppedBy === "budget";
  const { done, failed, planned } = tally.totals(now);
  const isStuck =
    failures.length > 0 && done + failed >= planned && (failures.every(isLastAttempt) || config.retry_failed === false);
  const flags = [
    ...(isSpent ? [largerBudget(config, usedBy(tally, now))] : []),
    ...(isStuck ? ["--retry-failed"] : []),
  ];
  return [`${PROGRAM_COMMAND} resume`, quote(folder), ...flags].join(" ");
}

/** What counts against a budget: also what scripts estimate. */
export function usedBy(tally: RunTally, now: number): Used {
  const totals = tally.totals(now);
  return { costUsd: knownCost(totals), tokens: totals.tokens + totals.scriptedTokens };
}

export type Budget = Pick<FullConfig, "max_cost" | "max_tokens_total">;
type Used = { costUsd: number; tokens: number };

/** Flags with which a run that its budget stopped goes on: twice what it has used. */
export function largerBudget(budget: Budget, used: Used): string {
  return spentBudgets(budget, used)
    .map(({ flag, limit, spent }) => `--${flag} ${roundUp(2 * Math.max(limit, spent))}`)
    .join(" ");
}

export function spentText(budget: Budget, used: Used): string {
  const text = ({ flag, limit, spent }: Spent) =>
    flag === "max-cost"
      ? `$${Number(spent.toPrecision(3))} of $${limit} (--${flag})`
      : `${spent} of ${limit} tokens (--${flag})`;
  return `${spentBudgets(budget, used).map(text).join(", ")} used`;
}

type Spent = { flag: string; limit: number; spent: number };

/** The budgets that are used up. */
function spentBudgets({ max_cost, max_tokens_total }: Budget, { costUsd, tokens }: Used): Spent[] {
  const all: Spent[] = [
    ...(max_cost === undefined ? [] : [{ flag: "max-cost", limit: max_cost, spent: costUsd }]),
    ...(max_tokens_total === undefined ? [] : [{ flag: "max-tokens-total", limit: max_tokens_total, spent: tokens }]),
  ];
  const over = all.filter(({ limit, spent }) => spent >= limit);
  return over.length > 0 ? over : all;
}

/** To two significant digits. */
function roundUp(value: number): number {
  const unit = 10 ** (Math.floor(Math.log10(value)) - 1);
  return Number((Math.ceil(value / unit) * unit).toPrecision(2));
}
