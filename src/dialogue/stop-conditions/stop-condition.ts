// What a stop condition is: a config key, its type and description, the stop reasons it may give, and a predicate over
// the record. One file holds all of it; the list in index.ts makes it known to the loop, the config and the docs.
import type { z } from "zod";
import type { Entry, Outcome } from "../../core/index.ts";

export type Progress = {
  entries: readonly Entry[];
  /** user messages that the agent was asked to answer so far */
  turns: number;
  /** the agent has just answered the user; false in the middle of a turn */
  turnEnded: boolean;
  elapsedMs: number;
};

/** Why the dialogue stops, or undefined if it continues. */
export type Stop = Pick<Outcome, "stopReason" | "blame" | "message">;

export type StopCondition<Key extends string = string, Schema extends z.ZodType = z.ZodType> = {
  /** in the config; one that starts with `monitor_` is switched off by `enable_monitor: false` */
  key: Key;
  /** of the key's value, with its description and default */
  schema: Schema;
  /** each stop reason, with the `success` that it carries: true for a regular end */
  reasons: { [reason: string]: boolean };
  /** the predicate for a value of the key; not called if the key is not set, or false */
  create(value: NonNullable<z.output<Schema>>): (progress: Progress) => Stop | undefined;
};

/** Keeps the type of the key, so that the config's schema knows it. */
export function defineStopCondition<Key extends string, Schema extends z.ZodType>(
  condition: StopCondition<Key, Schema>,
): StopCondition<Key, Schema> {
  return condition;
}
