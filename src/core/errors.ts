// The whole failure philosophy: a RolloutError ends one rollout and stops nobody else; a UsageError stops the command;
// anything else is a bug of ours. A tool's own failure is none of these: it is a tool result marked as an error.
import type { Blame, StopReason } from "./outcome.ts";

export class RolloutError extends Error {
  override name = "RolloutError";
  readonly boundary: Blame;
  readonly retryable: boolean;
  readonly stopReason: StopReason;
  constructor(
    boundary: Blame,
    message: string,
    options: { retryable?: boolean; cause?: unknown; stopReason?: StopReason } = {},
  ) {
    super(message, { cause: options.cause });
    this.boundary = boundary;
    this.retryable = options.retryable ?? false;
    this.stopReason = options.stopReason ?? "infrastructure";
  }
}

export type Place = { file: string; line?: number; column?: number };

/** What the user can mend: a wrong flag, a bad config, a missing file. Shown as one or a few lines, without a stack. */
export class UsageError extends Error {
  override name = "UsageError";
  readonly place: Place | undefined;
  /** the message without the place */
  readonly reason: string;
  constructor(reason: string, place?: Place) {
    super(place ? `${formatPlace(place)}: ${reason}` : reason);
    this.place = place;
    this.reason = reason;
  }
}

export function formatPlace(place: Place): string {
  const position = [place.line, place.column].filter((part) => part !== undefined).join(":");
  return position ? `${place.file}:${position}` : place.file;
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
