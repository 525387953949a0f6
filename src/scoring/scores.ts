// `scores.jsonl`: one line for each result of a check. Append-only: of two lines for one rollout and one check, the later
// one counts.
import type { Blame, Json, RecordKey, Trajectory } from "../core/index.ts";
import { scanLines } from "../files/index.ts";
import { bodyOf, type DamagedLine, isBlank, parseLine } from "../runs/index.ts";
import type { Check, CheckResult } from "./check.ts";

export const SCORES_FILE = "scores.jsonl";

export type ScoreRecord = RecordKey & {
  check: string;
  version: number;
  /** hash of the trajectory's line: a record that was made again is scored again */
  record: string;
  /** hash of the check's settings, if it has any */
  settings?: string;
  /** hash of what it was judged by: the query, its reference, the domain's rules and policy */
  basis?: string;
  /** the check finds faults; passing it does not solve the task */
  guards?: boolean;
  /** null: not checkable */
  pass: boolean | null;
  score: number | null;
  reason: string;
  blame?: Blame;
  /** of answers: what matching alone says, where a judge decided the rest */
  matched?: boolean;
  details?: Json;
};

export type ScoredBy = { check: Check; record: string; settings: string | undefined; basis: string };

export function toScoreRecord(
  { id, dataset, query_id, rollout }: Trajectory,
  { check, record, settings, basis }: ScoredBy,
  { pass, score, reason, blame, matched, details }: CheckResult,
): ScoreRecord {
  return {
    ...{ id, dataset, query_id, rollout },
    check: check.name,
    version: check.version,
    record,
    settings,
    basis,
    guards: check.guards ? true : undefined,
    pass,
    score,
    reason,
    blame: pass === true ? undefined : blame,
    matched,
    details,
  };
}

/** Calls back for each result, in order, and for each line that is none; returns where the last complete one ends. */
export function scanScores(
  file: string,
  onScore: (score: ScoreRecord) => void,
  onDamage: (line: DamagedLine) => void = () => {},
  /** only lines that hold this text are looked at */
  text?: Buffer,
): number {
  return scanLines(file, ({ bytes, offset, length, number }) => {
    if (text && !bytes.includes(text)) return;
    const score = readScoreLine(bytes);
    if (typeof score === "string") onDamage({ offset, length, number, reason: score });
    else if (score) onScore(score);
  });
}

/** The result, or what is wrong with the line; undefined for a blank line. */
export function readScoreLine(line: Buffer): ScoreRecord | string | undefined {
  const bytes = bodyOf(line);
  if (isBlank(bytes)) return undefined;
  const value = parseLine(bytes);
  if (typeof value === "string") return value;
  const { dataset, query_id, rollout, check, pass = null, score = null, reason = "" } = value;
  const isKeyed = typeof dataset === "string" && typeof query_id === "string" && typeof rollout === "number";
  const isResult = (pass === null || typeof pass === "boolean") && (score === null || typeof score === "number");
  const isWhole = isKeyed && isResult && typeof check === "string" && typeof reason === "string";
  return isWhole ? ({ ...value, pass, score, reason } as unknown as ScoreRecord) : "is not a result of a check";
}
