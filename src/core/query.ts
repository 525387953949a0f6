// One task as the user wrote it, in the words of the dataset files, and the identity of an attempt at it.
import type { StateChanges } from "./environment.ts";
import type { Json, JsonObject } from "./json.ts";
import type { TrajectoryMessage } from "./message.ts";
import { seedFrom } from "./random.ts";
import type { PlanCall, ReferencePlan } from "./reference-plan.ts";

export const MODES = ["positive", "wrong_tool", "no_tool"] as const;
export type Mode = (typeof MODES)[number];

/** What a dialogue begins with; calls among it were made before, and its world is where they left it. */
export type OpeningMessage = TrajectoryMessage;

export type TaskInfo = {
  /** tool names in order; `Server.tool` in a combination */
  trajectory?: string[];
  instruction?: string;
  reason_for_call?: string;
  known_info?: string;
  /** the reference dialogue: what the user says, what a flawless agent calls and says */
  plan?: ReferencePlan;
  expected_state?: StateChanges;
  /** of a plain question: the answer, or of a list all of it; and answers of which any one is right */
  answer?: Json;
  answers?: Json;
  [key: string]: unknown;
};

export type Query = {
  id: string;
  messages: OpeningMessage[];
  userSystemPrompt: string;
  /** replaces the agent's system prompt for this query */
  systemPrompt?: string;
  taskInfo: TaskInfo;
  /** calls that make its world, before the dialogue begins and behind both parties' backs */
  setup?: PlanCall[];
  /** tools that are the simulated user's and not the agent's: `tool`, `Server.tool` or `Server.*` */
  userTools?: string[];
  /** OpenAI function tools that the query itself provides, for `wrong_tool` */
  tools?: JsonObject[];
  /** of the record as it is in the file */
  hash: string;
  /** how many of its texts had halves of surrogate pairs, now U+FFFD */
  repairedTexts?: number;
};

/** Whether calls are made before its dialogue begins: its world is then settled only after them. */
export function hasOpeningCalls({ setup = [], messages }: Pick<Query, "setup" | "messages">): boolean {
  return setup.length > 0 || messages.some(({ role }) => role === "tool");
}

export type RolloutKey = { dataset: string; queryId: string; rollout: number };

export function rolloutId(key: Pick<RolloutKey, "queryId" | "rollout">): string {
  return key.rollout === 0 ? key.queryId : `${key.queryId}#${key.rollout}`;
}

/** The rollout of another query that would have this query's id, if there is such a query: `a#1` for `a`. */
export function namesakeOf(queryId: string): Omit<RolloutKey, "dataset"> | undefined {
  const [, other, rollout] = /^(.+)#([1-9]\d{0,9})$/s.exec(queryId) ?? [];
  return other === undefined ? undefined : { queryId: other, rollout: Number(rollout) };
}

/** A rollout's key as records hold it. */
export type RecordKey = { id: string; query_id: string; rollout: number; dataset: string };

export function recordKey({ dataset, queryId, rollout }: RolloutKey): RecordKey {
  return { id: rolloutId({ queryId, rollout }), query_id: queryId, rollout, dataset };
}

export function rolloutSeed(runSeed: number, key: RolloutKey): number {
  return seedFrom(runSeed, key.dataset, key.queryId, key.rollout);
}

export const END_TOKENS = {
  "###STOP###": "user_stop",
  "###TRANSFER###": "user_transfer",
  "###OUT-OF-SCOPE###": "user_out_of_scope",
} as const;
