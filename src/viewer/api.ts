// What the server tells the page: types only, shared by both.
import type { Entry, Json, JsonObject, Trajectory } from "../core/index.ts";
import type { NetworkLoad } from "../models/index.ts";
import type { FailureGroup, FailureRecord } from "../runs/index.ts";
import type { Numbers, ScoreRecord, VerdictWord } from "../scoring/index.ts";

export type RunState = "reading" | "running" | "finished" | "stopped" | "unreadable";

/** A share with its 95 % interval, where there is one. */
export type Share = { value: number; low?: number; high?: number };

export type RunCard = {
  name: string;
  folder: string;
  state: RunState;
  /** why it cannot be read */
  trouble?: string;
  planned: number;
  done: number;
  failed: number;
  running: number;
  agents: string[];
  datasets: string[];
  scripted: boolean;
  passAt1?: Share;
  /** null: not known */
  costUsd: number | null;
  startedAt: number;
  changedAt: number;
};

export type RunView = {
  card: RunCard;
  /** what is damaged or left out, one sentence for each file */
  notes: string[];
  totals: {
    perSecond: number;
    secondsElapsed: number;
    secondsLeft?: number;
    toolCalls: number;
    tokens: number;
    scriptedTokens: number;
    projectedCostUsd?: number;
    slowest: { id: string; dataset: string; seconds: number }[];
  };
  datasets: { name: string; planned: number; done: number; failed: number }[];
  endpoints: NetworkLoad["endpoints"];
  failures: FailureGroup[];
  /** the command that goes on, where there is something left */
  resume?: string;
  numbers: Numbers;
  charts: Charts;
};

/** Bars link to the rollouts behind them: `where` is a part of the table's address. */
export type Bar = { label: string; count: number; where: string };

export type Charts = {
  stopReasons: Bar[];
  verdicts: Bar[];
  blame: Bar[];
  /** by check: how many failed */
  checks: Bar[];
  faults: Bar[];
  tools: Bar[];
  turns: Bar[];
  toolCalls: Bar[];
  tokens: Bar[];
  seconds: Bar[];
  /** finished over time: seconds since 1970, and how many there were by then */
  finished: { at: number[]; count: number[] };
};

export type TableRow = {
  dataset: string;
  id: string;
  queryId: string;
  rollout: number;
  stopReason: string;
  ended: boolean;
  verdict: VerdictWord;
  score: number | null;
  blame: string;
  turns: number;
  toolCalls: number;
  toolErrors: number;
  tokens: number;
  costUsd: number | null;
  seconds: number;
  endedAt: number;
};

export type TableView = {
  total: number;
  /** that the filters leave */
  chosen: number;
  offset: number;
  rows: TableRow[];
  /** how many rollouts have each value of what can be filtered by */
  facets: { [member: string]: { [value: string]: number } };
  /** false while the run is still being read */
  isWhole: boolean;
};

export type DialogueView = {
  dataset: string;
  id: string;
  trajectory?: Trajectory;
  system?: string;
  tools?: Json[];
  userTools?: Json[];
  /** as they happened, with times and tokens; none if no journal was kept */
  entries: Entry[];
  startedAt?: string;
  failures: FailureRecord[];
  checks: ScoreRecord[];
  verdict?: VerdictWord;
  score?: number | null;
  siblings: { id: string; verdict: VerdictWord; stopReason: string }[];
  /** what is damaged, one sentence for each file */
  notes: string[];
};

/** One thing that was said, called or answered, as the person on the seat may see it. */
export type SeatItem = {
  by: "agent" | "user" | "tool";
  text: string;
  calls?: { name: string; arguments: string }[];
  /** whose result it is */
  tool?: string;
  isError?: boolean;
  /** how the user ended the dialogue with it */
  end?: string;
};

export type SeatView = {
  party: "agent" | "user";
  place?: { dataset: string; queryId: string };
  /** the policy, or the scenario */
  system: string;
  tools: { name: string; description: string; parameters: JsonObject }[];
  items: SeatItem[];
  /** why the last answer has to be given again */
  notice?: string;
  /** set: the person's turn */
  asked?: { position: number; canCall: boolean };
  over?: { success: boolean; stopReason: string; message?: string };
  /** parked: it can be continued */
  isLeft: boolean;
};

/** Sent by the server when something changed: the names of the runs; `/seat` for the seat. */
export type ChangeEvent = { runs: string[] };
