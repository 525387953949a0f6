// What the server tells the page: types only, shared by both.
import type { JsonObject } from "../core/index.ts";
import type { NetworkLoad } from "../models/index.ts";
import type { FailureGroup, FailureRecord } from "../runs/index.ts";
import type { Difference, Numbers, ScoreRecord, VerdictWord } from "../scoring/index.ts";

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

/** A text, or its first part: the whole has `length` characters and is at `/text/NUMBER` of its dialogue. */
export type LongText = { text: string; length?: number; number?: number };

/** What an entry took. */
export type Spent = {
  /** milliseconds since the entry before it */
  ms?: number;
  at?: string;
  inputTokens?: number;
  outputTokens?: number;
  cachedTokens?: number;
  reasoningTokens?: number;
  /** null: not known */
  costUsd?: number | null;
  /** a script's tokens are estimates */
  scripted?: boolean;
};

/** Something worth marking, in words: an error, trouble, something of note. */
export type Mark = { level: "bad" | "odd" | "note"; text: string };

export type CallView = {
  id: string;
  name: string;
  arguments: LongText;
  /** undefined: it was never answered */
  result?: {
    /** its number among the messages */
    message?: number;
    content: LongText;
    isError: boolean;
    /** all of it, where the model got only a part */
    raw?: LongText;
    /** where the tool's own code failed */
    trace?: string;
    spent?: Spent;
  };
  marks: Mark[];
};

/** One thing that was said or done, in order. */
export type Moment = {
  kind: "message" | "calls" | "summary" | "judge" | "rejected" | "result";
  by: "user" | "agent" | "setup" | "system" | "judge" | "summary" | "tool";
  /** its number among the record's messages, if it is one of them */
  message?: number;
  /** user messages so far */
  turn: number;
  text?: LongText;
  reasoning?: LongText;
  calls: CallView[];
  marks: Mark[];
  spent?: Spent;
};

/** What a check found, and the message that shows it. */
export type Finding = { text: string; message?: number };

export type CheckView = Pick<ScoreRecord, "check" | "pass" | "score" | "reason" | "blame" | "guards"> & {
  /** messages that decided */
  messages: number[];
  findings: Finding[];
};

/** A record that a call, or all of them, added, changed or deleted (null). */
export type StateChange = {
  table: string;
  id: string;
  kind: "added" | "changed" | "deleted" | "as before";
  fields: JsonObject;
};

/** What the calls did to the tools' data. */
export type StateView = {
  /** why there is none to be shown, or what it is taken from */
  note?: string;
  /** by call id: what each writing call changed */
  changes: { [callId: string]: StateChange[] };
  final?: StateChange[];
  expected?: StateChange[];
  /** where the two differ, a line each */
  differences?: string[];
};

export type ToolView = { name: string; description: string /** JSON Schema, as it was sent */; parameters: string };

export type DialogueState = "finished" | "running" | "cut off" | "failed";

export type DialogueView = {
  dataset: string;
  id: string;
  queryId: string;
  rollout: number;
  state: DialogueState;
  moments: Moment[];
  /** of a finished one */
  facts?: Omit<TableRow, "dataset" | "id" | "queryId" | "rollout" | "verdict" | "score"> & {
    message?: string;
    models: { [party: string]: string };
    mode: string;
    seed: number;
    attempt: number;
    scripted: boolean;
    scriptedTokens: number;
    startedAt: string;
    opening: number;
  };
  startedAt?: string;
  system?: string;
  tools: ToolView[];
  userTools: ToolView[];
  /** all that went wrong on the way, in words */
  faults: { text: string; message?: number }[];
  failures: FailureRecord[];
  checks: CheckView[];
  verdict: VerdictWord;
  score: number | null;
  decidedBy: string[];
  blame?: string;
  evidence?: string;
  states: StateView;
  siblings: { id: string; verdict: VerdictWord; state: DialogueState; stopReason: string }[];
  /** what is damaged or missing, one sentence each */
  notes: string[];
};

export type QueryOutcome = "won" | "lost" | "equal" | "not comparable";

/** Two runs, query by query: what the second won and lost against the first. */
export type RunComparison = {
  a: { name: string; agents: string[]; solved: number | null };
  b: { name: string; agents: string[]; solved: number | null };
  difference: Difference | null;
  counts: { [outcome in QueryOutcome]: number };
  /** queries that only one of them has */
  leftOut: number;
  /** those that were asked for, the largest difference first */
  chosen: number;
  queries: {
    dataset: string;
    query: string;
    outcome: QueryOutcome;
    /** share of solved rollouts, null if none is scored */
    rates: [number | null, number | null];
    /** the two dialogues that show it best */
    ids: [string, string];
  }[];
};

/** Rollouts of the same query, here and in other runs. */
export type CompareChoices = { run: string; dataset: string; id: string; verdict: VerdictWord; stopReason: string }[];

/** Sent by the server when something changed: the names of the runs. */
export type ChangeEvent = { runs: string[] };
