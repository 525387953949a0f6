// One union of events for terminal, journal and page.
import type { Entry } from "./entry.ts";
import type { Usage } from "./message.ts";
import type { Outcome } from "./outcome.ts";
import type { OpeningMessage, RolloutKey } from "./query.ts";

/** A dataset's counts in this run: everything planned, and how much of it is already done. */
export type DatasetCounts = {
  name: string;
  planned: number;
  kept: number;
  /** cut off, and continued from their last recorded entry */
  continuing: number;
  /** failed before, and tried again */
  retrying: number;
  /** failed before, and not tried again */
  givenUp: number;
  /** unfinished, and left for another time by the flags of a resume; older journals have none */
  later?: number;
};

export type RunStart = {
  type: "run-start";
  at: string;
  folder: string;
  programVersion: string;
  datasets: DatasetCounts[];
};
export type RolloutStart = RolloutKey & {
  type: "rollout-start";
  at: string;
  attempt: number;
  fingerprint: string;
  /** entries reused from the record of an earlier attempt */
  continued: number;
  /** the messages that the query begins with; not in the journal, since the query has them */
  opening?: readonly OpeningMessage[];
};
export type EntryEnd = RolloutKey & { type: "entry-end"; index: number; entry: Entry };
/** A call with effects that outlive the rollout is about to be sent, under this idempotency key. */
export type CallStart = RolloutKey & { type: "call-start"; callId: string; key: string };
export type RolloutEnd = RolloutKey & {
  type: "rollout-end";
  at: string;
  attempt: number;
  fingerprint: string;
  outcome: Outcome;
  turns: number;
  toolCalls: number;
  usage: Usage;
  durationMs: number;
  /** how many there are; older journals do not say */
  entries?: number;
};
/** An endpoint is making its callers wait: a rate limit, a back-off, an open breaker. */
type EndpointWait = { type: "endpoint-wait"; at: string; endpoint: string; seconds: number; reason: string };
/** One line for people: a record that could not be replayed, a full disk, a repeated query. */
type RunNote = { type: "run-note"; at: string; message: string };
export type RunEnd = {
  type: "run-end";
  at: string;
  finished: number;
  failed: number;
  /** why rollouts are left undone, if any are */
  stoppedBy?: "interrupt" | "budget" | "setup";
  /** what a wrong setup is */
  message?: string;
};

/** What one rollout records, without its key. */
export type RolloutEvent =
  | WithoutKey<RolloutStart>
  | WithoutKey<EntryEnd>
  | WithoutKey<CallStart>
  | WithoutKey<RolloutEnd>;
type WithoutKey<E> = Omit<E, keyof RolloutKey>;

export type RunEvent = RunStart | RolloutStart | EntryEnd | CallStart | RolloutEnd | EndpointWait | RunNote | RunEnd;
