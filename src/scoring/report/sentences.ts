// What a report says in whole sentences, on the page and in a terminal alike.
import type { Agreement, AnnotationReport } from "./annotations.ts";
import type { Report } from "./report.ts";
import { percent } from "./svg.ts";

/** Why there are no numbers. */
export function explainNoScores({ overall, checks, outcomes, unscored_reasons }: Report): string {
  if (overall.rollouts === 0)
    return outcomes.infrastructure > 0 ? "No rollout was played." : "There are no rollouts yet.";
  if (Object.keys(checks).length === 0) return "Nothing is scored yet: rollout eval on this folder scores it.";
  const [reason] = Object.entries(unscored_reasons);
  const why = reason ? ` The most frequent reason (${reason[1]}): ${reason[0]}` : "";
  return `No rollout could be scored: ${outcomes["not scored"]} unscored.${why}`;
}

/** What counts, where that is not every check. */
export function describeOnly({ only_checks }: Report): string | undefined {
  return only_checks && `Decided by ${only_checks.join(", ")} only: what other checks found does not count here.`;
}

/** How the numbers would look with infrastructure failures among them, if there are any. */
export function describeInfrastructure({ outcomes, with_infrastructure: all }: Report): string | undefined {
  const { infrastructure } = outcomes;
  if (infrastructure === 0) return undefined;
  const failures = `${infrastructure} infrastructure ${infrastructure === 1 ? "failure" : "failures"}`;
  if (all.scored === 0) return `Not counted: ${failures}.`;
  const range = all.success_interval;
  const interval = range ? ` (95 % interval ${percent(range.low)} to ${percent(range.high)})` : "";
  return `Counting ${failures} as not solved: ${percent(all.success_rate)} of ${all.scored} solved${interval}.`;
}

/** What people say, in all. */
export function describeAnnotations({ verdicts, rollouts, unknown }: AnnotationReport): string {
  const { accept, reject, unsure, mixed } = verdicts;
  const strangers = unknown > 0 ? ` Annotated, but not in the run: ${unknown}.` : "";
  return `${rollouts} ${rollouts === 1 ? "rollout" : "rollouts"} with a verdict of people: ${accept} accept, ${reject} reject, ${unsure} unsure, ${mixed} mixed.${strangers}`;
}

/** How far two annotators agree. */
export function describeAgreement({ annotators: [a, b], rollouts, agreed, kappa }: Agreement): string {
  const beyond =
    kappa === null
      ? "kappa is not defined, since each gave the same verdict throughout"
      : `Cohen's kappa ${kappa.toFixed(2)}`;
  return `${a} and ${b} agree on ${agreed} of ${rollouts} that both judged: ${beyond}.`;
}
