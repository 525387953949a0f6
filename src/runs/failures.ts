// `failures.jsonl`: one line per attempt that failed for infrastructure reasons.
import { type RecordKey, rolloutId } from "../core/index.ts";
import { scanLines } from "../files/index.ts";
import { isIntact, isUnchanged } from "./checksum.ts";
import type { DamagedLine } from "./damage.ts";
import { bodyOf, CHANGED, isBlank, MISNAMED, parseLine } from "./examine-record.ts";

export const FAILURES_FILE = "failures.jsonl";

/** How often a rollout may fail on its own account before a resume leaves it, unless told otherwise. */
export const MAX_ATTEMPTS = 3;

export type FailureRecord = RecordKey & {
  attempt: number;
  error: string;
  /** the class of the failure */
  kind: string;
  boundary: string;
  /** false: any other rollout would have met it too, and it is not counted as an attempt */
  own?: boolean;
  entries: number;
  at: string;
  /** of the exception behind it, if there was one */
  stack?: string;
};

/** Whether a resume leaves this rollout, unless told otherwise. */
export function isLastAttempt({ attempt, own }: FailureRecord): boolean {
  return own !== false && attempt >= MAX_ATTEMPTS;
}

/** Calls back for each failure, and for each line that is none; returns where the last complete line ends. */
export function scanFailures(
  file: string,
  onFailure: (failure: FailureRecord) => void,
  onDamage: (line: DamagedLine) => void = () => {},
): number {
  return scanLines(file, ({ bytes, offset, length, number }) => {
    const failure = readFailureLine(bytes);
    if (typeof failure === "string") onDamage({ offset, length, number, reason: failure });
    else if (failure) onFailure(failure);
  });
}

/** The failure, or what is wrong with the line; undefined for a blank line. */
export function readFailureLine(line: Buffer): FailureRecord | string | undefined {
  const bytes = bodyOf(line);
  if (isBlank(bytes)) return undefined;
  const value = parseLine(bytes);
  if (typeof value === "string") return value;
  if (!isIntact(bytes) && isUnchanged(value) === false) return CHANGED;
  const { id, query_id, rollout, dataset, attempt = 1, error } = value;
  const isKeyed = typeof query_id === "string" && typeof rollout === "number" && typeof dataset === "string";
  if (!isKeyed || typeof attempt !== "number" || typeof error !== "string") return "is not a failure";
  if (id !== rolloutId({ queryId: query_id, rollout })) return MISNAMED;
  return { ...value, attempt } as FailureRecord;
}
