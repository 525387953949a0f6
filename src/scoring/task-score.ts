// From the results of its checks to a rollout's score, and whose fault it is if it failed. Checks that could not
// decide take no part; if none could, the rollout is unscored: neither solved nor failed.
import type { Blame, StopReason } from "../core/index.ts";
import type { ScoreRecord } from "./scores.ts";
import type { EvaluationSettings } from "./settings.ts";

export type ScoreRule = NonNullable<EvaluationSettings["score"]>;
type CheckScore = Pick<ScoreRecord, "check" | "pass" | "score" | "reason" | "blame" | "guards">;

export type TaskScore = {
  /** null: unscored, nothing could decide whether the task was solved */
  pass: boolean | null;
  score: number | null;
  /** the checks that failed, or if none did, those that passed; empty if unscored */
  decided_by: string[];
  blame?: Blame;
  /** why it is blamed */
  evidence?: string;
};

/** How the dialogue itself ended, according to its metadata. */
export type Ending = { stop_reason: StopReason; blame?: Blame; message?: string };

export function taskScore(results: Iterable<CheckScore>, ending: Ending, rule: ScoreRule = "product"): TaskScore {
  const all = [...results];
  const failures = all.filter(({ pass }) => pass === false);
  // if nothing but guards was asked for, they are what was wanted
  const counts = all.every(({ guards }) => guards) ? () => true : ({ guards }: CheckScore) => !guards;
  const passes = all.filter((result) => result.pass === true && counts(result));
  const decided = [...failures, ...passes];
  if (decided.length === 0) {
    const failedJudge = all.find((result) => result.blame === "judge");
    const unscored = { pass: null, score: null, decided_by: [] };
    return failedJudge ? { ...unscored, blame: "judge", evidence: failedJudge.reason } : unscored;
  }
  const score = combine(
    decided.map((result) => result.score ?? 0),
    rule,
  );
  const decided_by = (failures.length > 0 ? failures : passes).map(({ check }) => check);
  return failures.length === 0
    ? { pass: true, score, decided_by }
    : { pass: false, score, decided_by, ...blameFor(failures, ending) };
}

function combine(scores: number[], rule: ScoreRule): number {
  if (rule === "mean") return scores.reduce((sum, score) => sum + score, 0) / scores.length;
  if (rule === "min") return Math.min(...scores);
  return scores.reduce((product, score) => product * score, 1);
}

const MISCONDUCT = ["policy", "claims", "conduct", "refusal"];

/**
 * Blame goes to the infrastructure first; then to an agent that broke a rule, whatever the user did; then to the user,
 * then to a tool. The agent is to blame for the rest.
 */
function blameFor(failures: CheckScore[], ending: Ending): { blame: Blame; evidence: string } {
  const ended = blameEnding(ending);
  const evidence = (found: CheckScore[]) => found.map(({ check, reason }) => `${check}: ${reason}`).join("; ");
  if (ended?.blame === "infrastructure") return ended;
  const broken = failures.filter(({ check, blame }) => MISCONDUCT.includes(check) && (blame ?? "agent") === "agent");
  if (broken.length > 0) return { blame: "agent", evidence: evidence(broken) };
  if (ended && ended.blame !== "agent") return ended;
  for (const blame of ["infrastructure", "user", "tool", "judge"] as const) {
    const found = failures.find((failure) => failure.blame === blame);
    if (found) return { blame, evidence: evidence([found]) };
  }
  return { blame: "agent", evidence: [ended?.evidence, evidence(failures)].filter(Boolean).join("; ") };
}

/** Token and cost limits are the agent's fault; a time limit may be due to a slow endpoint. */
function blameEnding({ stop_reason, blame, message }: Ending): { blame: Blame; evidence: string } | undefined {
  const evidence = message ? `${stop_reason}: ${message}` : stop_reason;
  if (blame) return { blame, evidence };
  if (stop_reason === "time_limit") return { blame: "infrastructure", evidence };
  if (stop_reason === "token_budget" || stop_reason === "cost_budget") return { blame: "agent", evidence };
  return undefined;
}
