// From the results of its checks to a rollout's score, and whose fault it is if it failed. Checks that could not
// decide take no part; if none could, the rollout is not scored at all.
import type { Blame, StopReason } from "../core/index.ts";
import type { ScoreRecord } from "./scores.ts";
import type { EvaluationSettings } from "./settings.ts";

export type ScoreRule = NonNullable<EvaluationSettings["score"]>;
type CheckScore = Pick<ScoreRecord, "check" | "pass" | "score" | "reason" | "blame">;

export type TaskScore = {
  /** null: no check could decide */
  pass: boolean | null;
  score: number | null;
  blame?: Blame;
  /** why it is blamed */
  evidence?: string;
};

/** How the dialogue itself ended, according to its metadata. */
export type Ending = { stop_reason: StopReason; blame?: Blame; message?: string };

export function taskScore(results: Iterable<CheckScore>, ending: Ending, rule: ScoreRule = "product"): TaskScore {
  const all = [...results];
  const decided = all.filter((result) => result.pass !== null);
  if (decided.length === 0) {
    const failedJudge = all.find((result) => result.blame === "judge");
    return failedJudge
      ? { pass: null, score: null, blame: "judge", evidence: failedJudge.reason }
      : { pass: null, score: null };
  }
  const scores = decided.map(({ score }) => score ?? 0);
  const pass = decided.every((result) => result.pass);
  const score = combine(scores, rule);
  return pass ? { pass, score } : { pass, score, ...blameFor(decided, ending) };
}

function combine(scores: number[], rule: ScoreRule): number {
  if (rule === "mean") return scores.reduce((sum, score) => sum + score, 0) / scores.length;
  if (rule === "min") return Math.min(...scores);
  return scores.reduce((product, score) => product * score, 1);
}

/** Blame goes to the infrastructure first, then the user, then a tool; the agent is to blame for the rest. */
function blameFor(decided: CheckScore[], ending: Ending): { blame: Blame; evidence: string } {
  const ended = blameEnding(ending);
  if (ended && ended.blame !== "agent") return ended;
  const failures = decided.filter(({ pass }) => pass === false);
  for (const blame of ["infrastructure", "user", "tool", "judge"] as const) {
    const found = failures.find((failure) => failure.blame === blame);
    if (found) return { blame, evidence: `${found.check}: ${found.reason}` };
  }
  const evidence = failures.map(({ check, reason }) => `${check}: ${reason}`).join("; ");
  return { blame: "agent", evidence: ended ? `${ended.evidence}; ${evidence}` : evidence };
}

/** Token and cost limits are the agent's fault; a time limit may be due to a slow endpoint. */
function blameEnding({ stop_reason, blame, message }: Ending): { blame: Blame; evidence: string } | undefined {
  const evidence = message ? `${stop_reason}: ${message}` : stop_reason;
  if (blame) return { blame, evidence };
  if (stop_reason === "time_limit") return { blame: "infrastructure", evidence };
  if (stop_reason === "token_budget" || stop_reason === "cost_budget") return { blame: "agent", evidence };
  return undefined;
}
