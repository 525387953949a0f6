// What an exporter is: writes one format's rows from a dialogue, and reads them back by its loader's own rules.
import { isObject, type Json, type JsonObject } from "../../core/index.ts";
import type { ExportRecord } from "../record.ts";
import type { DatasetRow } from "../row-text.ts";
import type { AgentMessage, DialogueMessage, ReasoningMode, TrainingDialogue } from "../training-dialogue.ts";
import type { Unroll } from "../unroll.ts";

export type Container = "jsonl" | "parquet";

export type ColumnType =
  | "string"
  | "boolean"
  | "integer"
  /** a float, also where it is whole: a column has one type */
  | "number"
  /** anything; in Parquet, JSON text that readers know to be JSON */
  | "json"
  | { list: ColumnType }
  | { fields: { [name: string]: ColumnType } };

export type FormatOptions = {
  dataSource: string;
  useCot: boolean;
  /** as objects, or as JSON strings for loaders that want one type per column */
  arguments: "object" | "string";
  container: Container;
  /** the side of a split that the row belongs to */
  split: string;
  /** how many rows went out before this one */
  index: number;
  inline: boolean;
  /** how many messages come before what is learnt; undefined for a whole dialogue */
  context: number | undefined;
  /** the calls that solve the query, and where they come from */
  groundTruth?: GroundTruth;
};

export type GroundTruth = {
  /** `plan` or `validated_tasks`, executed; or the rollout whose calls they are */
  from: string;
  /** of that rollout, if it is scored */
  score?: number;
  calls: { name: string; arguments: Json }[];
};

/** A row with what was lost, or the reason why the loader would not take it. */
export type Written =
  | { row: DatasetRow; notes?: string[] /** what the row holds, if that is less */; messages?: DialogueMessage[] }
  | { reason: string };

export type Reading = { dialogue: TrainingDialogue; problems: string[] };

export type Format = {
  name: string;
  container: Container;
  columns: { [name: string]: ColumnType };
  /** what its JSON columns hold, where that can be checked */
  shapes?: { [name: string]: ColumnType };
  /** other columns for rows that are cut in this way */
  columnsFor?(unroll: Unroll): { [name: string]: ColumnType };
  /** the columns that a row must have, one of these sets; `messages` if nothing else is said */
  required?: string[][];
  /** what happens to reasoning by default; `field` if the target has a separate place for it */
  reasoning: { default: ReasoningMode; field: boolean };
  /** how a dialogue becomes rows unless asked otherwise; whole, unless templates would drop the reasoning of earlier turns */
  unroll?: Unroll;
  /** the ways that its trainer would learn something else from, with the reason */
  refuses?: { [mode in Unroll]?: string };
  /** what the trainer must be told, so that it learns what the rows mean */
  advice?(unroll: Unroll, pairs?: PairMode): string | undefined;
  /** the member that carries a message's loss flag, if the target has one */
  lossField?: string;
  /** rows have no loss flags: what follows the last user message is learnt */
  learnsBehindUser?: boolean;
  /** call ids become nine letters and digits, which the strictest template demands */
  shortIds?: boolean;
  /** rows are the records themselves: nothing is cut off, nothing checked */
  canonical?: boolean;
  /** all rollouts of a query give the same row */
  oncePerQuery?: boolean;
  write(dialogue: TrainingDialogue, record: ExportRecord, options: FormatOptions): Written;
  read(row: JsonObject): Reading;
  /** what its loader hands to the chat template; absent if the trainer has templates of its own */
  template?(row: JsonObject): { messages: JsonObject[]; tools: JsonObject[] | undefined };
  pairs?: PairWriters;
  /** files that go with the rows, by name */
  files?: { [name: string]: string };
  /** the entry in dataset_info.json, if the target has such a file */
  info?(pairs: PairMode | undefined): { [key: string]: Json };
};

export const PAIR_MODES = ["preference", "kto"] as const;
export type PairMode = (typeof PAIR_MODES)[number];

/** Two rollouts of one query: what both share, and the reply in which the agent first differs. Only that is learnt. */
export type Pair = {
  prompt: TrainingDialogue;
  chosen: AgentMessage;
  rejected: AgentMessage;
  records: { chosen: ExportRecord; rejected: ExportRecord };
};
export type Judged = { prompt: TrainingDialogue; completion: AgentMessage; label: boolean; record: ExportRecord };

type PairWriters = {
  preference?: { columns: { [name: string]: ColumnType }; write(pair: Pair, options: FormatOptions): Written };
  kto?: { columns: { [name: string]: ColumnType }; write(judged: Judged, options: FormatOptions): Written };
};

export const MALFORMED = "the arguments of a call are not a JSON object, which this format needs";
export const TEXT_WITH_CALL = "text next to a call dropped: the loader has no place for it";
export const CUT_TAIL = "messages behind the last one that is learnt cut off";
export const MERGED = "messages of one side in a row merged";
const NO_AGENT = "the agent says nothing";

/** Why no loader of dialogues with tools would understand this one; calls at the very end may be unanswered. */
export function structureProblem(messages: readonly DialogueMessage[]): string | undefined {
  let open: string[] = [];
  let spoke = false;
  for (const message of messages) {
    if (message.role === "tool") {
      const index = open.indexOf(message.callId);
      if (index === -1) return "a tool result without its call";
      open.splice(index, 1);
      continue;
    }
    if (open.length > 0) return "a call without its result";
    if (message.role === "assistant") {
      spoke = true;
      open = message.calls.map(({ id }) => id);
    }
  }
  return spoke ? undefined : NO_AGENT;
}

/** Results in the order of their calls, as loaders without ids expect them. */
export function inCallOrder(messages: DialogueMessage[]): DialogueMessage[] {
  const ordered: DialogueMessage[] = [];
  let calls: AgentMessage["calls"] = [];
  let results: Extract<DialogueMessage, { role: "tool" }>[] = [];
  const flush = () => {
    ordered.push(...results.sort((a, b) => place(a.callId) - place(b.callId)));
    results = [];
  };
  const place = (id: string) => calls.findIndex((call) => call.id === id);
  for (const message of messages) {
    if (message.role === "tool") results.push(message);
    else {
      flush();
      if (message.role === "assistant") calls = message.calls;
      ordered.push(message);
    }
  }
  flush();
  return ordered;
}

export function listOf(value: unknown): JsonObject[] {
  return Array.isArray(value) ? (value.filter(isObject) as JsonObject[]) : [];
}

export function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
