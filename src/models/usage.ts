// What a server says a call used. A budget and a bill rest on it, so a count that cannot be true is dropped, and named.

import type { Usage } from "../core/index.ts";
import type { Prices } from "./resolved.ts";

/** Dollars for the tokens of one call; cached ones may be cheaper. */
function costOf(
  { inputTokens, cachedTokens, outputTokens }: Pick<Usage, "inputTokens" | "cachedTokens" | "outputTokens">,
  { input, output, cachedInput = input }: Prices,
): number {
  return (inputTokens - cachedTokens) * input + cachedTokens * cachedInput + outputTokens * output;
}

/**
 * What a call cost: by its price, else what the server itself says. Null if neither is known, or if there is a price but
 * no believable count of tokens.
 */
export function chargeFor(
  tokens: Pick<Usage, "inputTokens" | "cachedTokens" | "outputTokens">,
  prices: Prices | undefined,
  { read, reported = null }: { read: UsageReader; reported?: number | null },
): number | null {
  if (!prices) return reported;
  const isFree = prices.input === 0 && prices.output === 0;
  const isCounted = tokens.inputTokens + tokens.outputTokens > 0 && !read.dropped.some((name) => BILLED.test(name));
  return isFree || isCounted ? costOf(tokens, prices) : reported;
}

const BILLED = /^(prompt|input|completion|output)_tokens$/;

/** More than any context window holds, or any single call costs. */
const MAX_TOKENS = 100_000_000;
const MAX_DOLLARS = 10_000;

export class UsageReader {
  /** the names of the counts that cannot be true */
  readonly dropped: string[] = [];

  tokens(name: string, value: unknown): number {
    return this.#read(name, value, MAX_TOKENS);
  }

  /** Null if the server does not say. */
  dollars(name: string, value: unknown): number | null {
    const before = this.dropped.length;
    const dollars = this.#read(name, value, MAX_DOLLARS);
    return value === undefined || value === null || this.dropped.length > before ? null : dollars;
  }

  /** For a reply: nothing if every count was believable. */
  get note(): { droppedUsage?: string[] } {
    return this.dropped.length === 0 ? {} : { droppedUsage: this.dropped };
  }

  /** What is not there counts as nothing. */
  #read(name: string, value: unknown, max: number): number {
    if (value === undefined || value === null) return 0;
    if (typeof value === "number" && value >= 0 && value <= max) return value;
    this.dropped.push(name);
    return 0;
  }
}
