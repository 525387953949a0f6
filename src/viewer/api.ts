// What the server tells the page: types only, shared by both.
import type { JsonObject } from "../core/index.ts";
import type { NetworkLoad } from "../models/index.ts";
import type { WorkerSight } from "../runner/index.ts";
import type { AnnotationRecord, AnnotationWord, FailureGroup, FailureRecord, Judgement } from "../runs/index.ts";
import type { Difference, Numbers, ScoreRecord, VerdictWord } from "../scoring/index.ts";

/** "failed": a wrong setup stopped it, or not one rollout could be played. */
export type RunState = "reading" | "running" | "finished" | "stopped" | "failed" | "unreadable";

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
  /** why it stopped, if that is known */
  stopped?: string;
  /** how much of its journal has been read, from 0 to 1: totals and progress are not whole before */
  journalRead: number;
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
  /** of a run on a queue */
  workers?: WorkerSight[];
  /** calls that wait before they are tried again, and how often calls were, by the class of the failure */
  backingOff: NetworkLoad["backingOff"];
  retries: NetworkLoad["retries"];
  /** calls that take long: whose, and for how many seconds */
  slowCalls: { id: string; dataset: string; who: string; seconds: number }[];
  failures: (FailureGroup & { advice?: string; example?: { dataset: string; id: string } })[];
  /** the command that goes on, where there is something left */
  resume?: string;
  numbers: Numbers;
  charts: Charts;
};

/** Bars link to the rollouts behind them: `where` is a part of the table's address. */
export type Bar = { label: string; count: number; where: string };

/** A check: how many rollouts passed it, failed it, and how many neither. */
export type CheckBars = { check: string; passed: Bar; failed: Bar };

export type Charts = {
  stopReasons: Bar[];
  verdicts: Bar[];
  blame: Bar[];
  checks: CheckBars[];
  faults: Bar[];
  tools: Bar[];
  /** by what people say about them, and by the tags that they gave */
  annotations: Bar[];
  tags: Bar[];
  scores: Bar[];
  turns: Bar[];
  steps: Bar[];
  toolCalls: Bar[];
  tokens: Bar[];
  seconds: Bar[];
  /** finished over time: up to then (seconds since 1970), how many in all, and which since the point before */
  finished: { at: number; total: number; where: string }[];
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
  steps: number;
  toolCalls: number;
  toolErrors: number;
  tokens: number;
  costUsd: number | null;
  seconds: number;
  endedAt: number;
  /** where the text is that was searched for */
  excerpt?: string;
  /** what people say about it, and the tags that they gave */
  annotation: AnnotationWord;
  tags: readonly string[];
};

export type TableView = {
  total: number;
  /** that the filters leave */
  chosen: number;
  offset: number;
  rows: TableRow[];
  /** how many rollouts have each value of what can be filtered by, among those that the other filters leave */
  facets: { [member: string]: { [value: string]: number } };
  /** false while the run is still being read */
  isWhole: boolean;
  /** how much of it has been read, from 0 to 1 */
  progress: number;
  /** how far the search for a text is; what was found until then is in the table */
  search?: SearchState;
};

/** `searched` of `total` rollouts; how many bytes that was, and how long it took. */
export type SearchState = { text: string; searched: number; total: number; bytes: number; milliseconds: number };
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
  facts?: Omit<
    TableRow,
    "dataset" | "id" | "queryId" | "rollout" | "steps" | "verdict" | "score" | "annotation" | "tags"
  > & {
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

export type { AnnotationRecord, Judgement };

/** What one person says, in whole: it replaces what they said before, and nothing at all takes it back. */
export type AnnotationRequest = {
  dataset: string;
  id: string;
  by: string;
  message?: number;
  verdict?: Judgement;
  tags?: string[];
  note?: string;
};

export type AnnotationsView = {
  annotations: AnnotationRecord[];
  /** the tags of the run, the most frequent first */
  tags: string[];
};

/** Where a review goes on. */
export type NextView = {
  /** the next one that the annotator gave no verdict on; absent if there is none */
  next?: { dataset: string; id: string };
  /** how many of the chosen rollouts have none */
  left: number;
  chosen: number;
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
