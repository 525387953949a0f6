// The whole failure philosophy: a RolloutError ends one rollout and no other; a UsageError stops the command;
// anything else is our bug. A tool's own failure is none of these: it is a tool result marked as an error.
import type { Blame, LoopReason } from "./outcome.ts";

export class RolloutError extends Error {
  override name = "RolloutError";
  readonly boundary: Blame;
  readonly retryable: boolean;
  readonly stopReason: LoopReason;
  /** the class of the failure: failures are counted by it */
  readonly kind: string;
  /** false: any other rollout would have met it too, so it does not count as an attempt of this one */
  readonly own: boolean;
  constructor(
    boundary: Blame,
    message: string,
    options: { retryable?: boolean; cause?: unknown; stopReason?: LoopReason; kind?: string; own?: boolean } = {},
  ) {
    super(message, { cause: options.cause });
    this.boundary = boundary;
    this.retryable = options.retryable ?? false;
    this.stopReason = options.stopReason ?? "infrastructure";
    this.kind = options.kind ?? boundary;
    this.own = options.own ?? true;
  }
}

export type Location = { file: string; line?: number; column?: number };

/** What the user can fix: a wrong flag, a bad config, a missing file. Shown as one or a few lines, without a stack. */
export class UsageError extends Error {
  override name = "UsageError";
  readonly location: Location | undefined;
  /** the message without the location */
  readonly reason: string;
  constructor(reason: string, location?: Location) {
    super(location ? `${formatLocation(location)}: ${reason}` : reason);
    this.location = location;
    this.reason = reason;
  }
}

/** Gives this location to an error that has none, thrown at once or later. */
export function atLocation<T>(location: Location | undefined, action: () => T): T {
  const locate = (error: unknown): never => {
    if (!location || !(error instanceof UsageError) || error.location) throw error;
    throw new UsageError(error.reason, location);
  };
  try {
    const result = action();
    return result instanceof Promise ? (result.catch(locate) as T) : result;
  } catch (error) {
    return locate(error);
  }
}

export function formatLocation(location: Location): string {
  const position = [location.line, location.column].filter((part) => part !== undefined).join(":");
  return position ? `${location.file}:${position}` : location.file;
}

/** Whatever was thrown: other people's code may throw things that cannot even be turned into a text. */
export function messageOf(error: unknown): string {
  try {
    return String(error instanceof Error ? error.message : error);
  } catch {
    return `something that has no text (${typeof error})`;
  }
}
