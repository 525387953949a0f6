// The faults that the mock server can inject, and how they are written: `429=0.1,503=0.02x3,malformed@2,reset@5-7`.
import { didYouMean, UsageError } from "../../core/index.ts";

/** Transient faults: each retry of the same request is drawn anew. */
const PASSING = [
  "429",
  "500",
  "503",
  "hang",
  "reset",
  "truncated",
  "slow",
  "empty",
  "user_empty",
  "user_role_swap",
] as const;
/** Faults tied to a request's content: the same request always meets them again. */
const LASTING = [
  "always500",
  "overflow",
  "refusal",
  "content_filter",
  "cut",
  "malformed",
  "unknown_tool",
  "schema",
  "duplicate_ids",
  "missing_ids",
  "text_call",
  "think",
] as const;

export const FAULT_KINDS = [...PASSING, ...LASTING];
export type FaultKind = (typeof FAULT_KINDS)[number];

export type FaultRule = {
  kind: FaultKind;
  /** 429: seconds of Retry-After, or "date"; slow: milliseconds */
  value?: string;
  when:
    | { rate: number /** this many attempts in a row */; burst: number }
    /** counted from 1, among the requests to which this fault can apply */
    | { from: number; to: number };
};

export function isPassing(kind: FaultKind): boolean {
  return (PASSING as readonly string[]).includes(kind);
}

export function parseFaults(spec: string): FaultRule[] {
  return spec
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "")
    .map(parseRule);
}

const RULE = /^(\w+)(?::(\w+))?(?:=(\d*\.?\d+)(?:x(\d+))?|@(\d+)(?:-(\d+))?)$/;

function parseRule(text: string): FaultRule {
  const match = RULE.exec(text);
  const name = match?.[1] ?? /^\w*/.exec(text)?.[0] ?? "";
  const kind = FAULT_KINDS.find((known) => known === name);
  if (!kind)
    throw new UsageError(
      `There is no fault "${name}"${didYouMean(name, FAULT_KINDS)} There are: ${FAULT_KINDS.join(", ")}`,
    );
  if (!match)
    throw new UsageError(`"${text}" is not a fault: write a rate (429=0.1, 503=0.02x3) or a position (429@3, 429@5-7)`);
  const [, , value, rate, burst, from, to] = match;
  if (value !== undefined) checkValue(kind, value);
  const rule = { kind, value };
  if (rate !== undefined) {
    const when = { rate: Number(rate), burst: Number(burst ?? 1) };
    if (when.rate > 1 || when.burst < 1) throw new UsageError(`"${text}": a rate is a number from 0 to 1`);
    return { ...rule, when };
  }
  const when = { from: Number(from), to: Number(to ?? from) };
  if (when.from < 1 || when.to < when.from)
    throw new UsageError(`"${text}": positions count from 1, the smaller one first`);
  return { ...rule, when };
}

function checkValue(kind: FaultKind, value: string): void {
  const isNumber = /^\d+$/.test(value);
  if (kind === "429" && (isNumber || value === "date")) return;
  if (kind === "slow" && isNumber) return;
  throw new UsageError(`"${kind}:${value}": only 429:SECONDS, 429:date and slow:MILLISECONDS take a value`);
}
