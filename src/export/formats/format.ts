// What an exporter is: writes one format's rows from a dialogue, and reads them back by its loader's own rules.
import { isObject, type Json, type JsonObject } from "../../core/index.ts";
import type { ExportRecord } from "../record.ts";
import type { DatasetRow } from "../row-text.ts";
import type { AgentMessage, DialogueMessage, ReasoningMode, TrainingDialogue } from "../training-dialogue.ts";

export type Container = "jsonl" | "parquet";

export type ColumnType =
  | "string"
  | "boolean"
  | "integer"
  | "number"
  /** anything, as JSON text */
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
};

/** A row with what was lost, or the reason why the loader would not take it. */
export type Written = { row: DatasetRow; notes?: string[] } | { reason: string };

export type Reading = { dialogue: TrainingDialogue; problems: string[] };

export type Format = {
  name: string;
  container: Container;
  columns: { [name: string]: ColumnType };
  /** what happens to reasoning by default; `field` if the target has a separate place for it */
  reasoning: { default: ReasoningMode; field: boolean };
  /** the member that carries a message's loss flag, if the target has one */
  lossField?: string;
  /** all rollouts of a query give the same row */
  oncePerQuery?: boolean;
  write(dialogue: TrainingDialogue, record: ExportRecord, options: FormatOptions): Written;
  read(row: JsonObject): Reading;
  pairs?: PairWriters;
  /** the entry in dataset_info.json, if the target has such a file */
  info?(pairs: PairMode | undefined): { [key: string]: Json };
};

export const PAIR_MODES = ["preference", "kto"] as const;
export type PairMode = (typeof PAIR_MODES)[number];

/** Two rollouts of one query: what both share, and how each continues from the agent's first difference. */
export type Pair = {
  prompt: TrainingDialogue;
  chosen: DialogueMessage[];
  rejected: DialogueMessage[];
  records: { chosen: ExportRecord; rejected: ExportRecord };
};
export type Judged = { prompt: TrainingDialogue; completion: DialogueMessage[]; label: boolean; record: ExportRecord };

type PairWriters = {
  preference?: { columns: { [name: string]: ColumnType }; write(pair: Pair, options: FormatOptions): Written };
  kto?: { columns: { [name: string]: ColumnType }; write(judged: Judged, options: FormatOptions): Written };
};

export const MALFORMED = "the arguments of a call are not a JSON object, which this format needs";
export const TEXT_WITH_CALL = "text next to a call dropped: the loader has no place for it";
export const CUT_TAIL = "messages behind the agent's last one cut off";
export const MERGED = "messages of one side in a row merged";
const NO_AGENT = "the agent says nothing";

/** Loaders that learn from the end want the agent to have the last word. */
export function endWithAgent(messages: DialogueMessage[]): { messages: DialogueMessage[]; cut: boolean } {
  const last = messages.findLastIndex(({ role }) => role === "assistant");
  return last === messages.length - 1 ? { messages, cut: false } : { messages: messages.slice(0, last + 1), cut: true };
}

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
