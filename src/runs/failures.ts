// `failures.jsonl`: one line per attempt that failed for infrastructure reasons.
import { parseJson, type RecordKey } from "../core/index.ts";
import { scanLines } from "../files/index.ts";

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

/** Calls back for each failure and returns where the last complete line ends. */
export function scanFailures(file: string, onFailure: (failure: FailureRecord) => void): number {
  return scanLines(file, ({ bytes }) => {
    const failure = parseJson(bytes.toString("utf8")) as FailureRecord | undefined;
    if (failure) onFailure(failure);
  });
}
