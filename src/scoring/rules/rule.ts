// What examining a rule of a domain's policy takes and gives.
import { cutText } from "../../core/index.ts";
import type { Domain } from "../../domains/index.ts";
import type { PolicyRule } from "../../tools/index.ts";
import type { Doubt } from "../check.ts";
import type { RecordedCall, Transcript } from "../transcript.ts";

export type RuleOf<Kind> = Extract<PolicyRule, { rule: Kind }>;

/** A call of one of the domain's tools, with the tool's name on the wire and its server. */
export type NamedCall = { call: RecordedCall; wire: string; server: string };

export type Scene = {
  dialogue: Transcript;
  domain: Domain;
  calls: NamedCall[];
  /** the reference dialogue, if there is one */
  plan: string | undefined;
};

/** How a rule was broken, in a sentence, and the message that broke it. */
export type Breach = { text: string; at: number };

/** What it cannot decide is for a judge. */
export type Finding = { broken: Breach[]; doubts?: Doubt[] };

/** What somebody said, as much of it as a finding needs. */
export function quoteText(text: string): string {
  return `"${cutText(text, MAX_QUOTE)}"`;
}

const MAX_QUOTE = 100;
