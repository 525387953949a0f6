// What a check is: something that looks at one finished rollout and says pass or fail, a score and why. If it cannot
// decide, it says so; nothing that was not checked ever counts as right.
import type { Blame, Json, Query, Trajectory } from "../core/index.ts";
import type { Domain } from "../domains/index.ts";
import type { Judge } from "./judge/judge.ts";
import type { Reference } from "./reference.ts";
import type { ReplayedState } from "./replay.ts";
import type { Transcript } from "./transcript.ts";

export type CheckContext = {
  trajectory: Trajectory;
  /** the messages taken apart: calls with their results, what was said to whom */
  dialogue: Transcript;
  query: Query;
  domain: Domain | undefined;
  /** what a flawless agent would have called and left behind, or why that is unknown */
  reference(): Promise<Reference | string>;
  /** the state that the recorded calls lead to in a fresh environment, or why it is unavailable */
  replay(): Promise<ReplayedState | string>;
  /** how the run's agents mark their answers, if it says so */
  answerFormat?: string;
  judge: Judge | undefined;
  signal: AbortSignal;
};

export type Verdict = {
  pass: boolean;
  /** 0 to 1 */
  score: number;
  reason: string;
  /** whose fault it is if it did not pass; the agent's by default */
  blame?: Blame;
  /** what matching alone says, where a judge was there to decide the rest */
  matched?: boolean;
  details?: Json;
};
/** Never 1.0: it takes no part in the task's score. `blame` is set if a judge or the infrastructure failed. */
export type Undecided = {
  pass: null;
  score: null;
  reason: string;
  blame?: "judge" | "infrastructure";
  matched?: boolean;
  details?: Json;
};
export type CheckResult = Verdict | Undecided;

/** What rules cannot decide, as a statement for a judge, with the part of the dialogue that it is about. */
export type Doubt = { statement: string; evidence: string };

export type Check = {
  name: string;
  /** raised when it may judge differently than before: such rollouts are scored again */
  version: number;
  needsJudge?: boolean;
  /** it finds faults: failing it fails the rollout, passing it does not solve the task */
  guards?: boolean;
  /** its settings, if not the defaults; when they change, rollouts are scored again */
  settings?: Json;
  run(context: CheckContext): Promise<CheckResult> | CheckResult;
};

export function passed(reason: string, details?: Json): Verdict {
  return { pass: true, score: 1, reason, details };
}

export function failed(reason: string, more: { score?: number; blame?: Blame; details?: Json } = {}): Verdict {
  return { pass: false, score: 0, reason, blame: "agent", ...more };
}

export function notCheckable(reason: string, more: { blame?: Undecided["blame"]; details?: Json } = {}): Undecided {
  return { pass: null, score: null, reason: `not checkable: ${reason}`, ...more };
}
