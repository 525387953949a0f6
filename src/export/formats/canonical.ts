// The record itself, labelled: as lines, and as Parquet with the parts that differ from record to record as JSON text.

import { type ExportRecord, float, toLine } from "../record.ts";
import { type DatasetRow, shareText } from "../row-text.ts";
import type { DialogueMessage } from "../training-dialogue.ts";
import { type ChatStyle, chatColumn, chatMessages, plainChat, readCompletion } from "./chat.ts";
import { type ColumnType, type Container, type Format, type FormatOptions, listOf, type Pair } from "./format.ts";

const style: ChatStyle = { ids: true, arguments: "raw", lossField: "loss" };
const MESSAGES = chatColumn({ loss: "boolean" });
const SIDES: { [name: string]: ColumnType } = { id: "string", score: "number", messages: MESSAGES };

export const jsonl = createCanonical("jsonl");
export const parquet = createCanonical("parquet");

function createCanonical(container: Container): Format {
  return {
    name: container,
    container,
    columns: {
      rollout: "integer",
      dataset: "string",
      domains: { list: "string" },
      success: "boolean",
      messages: MESSAGES,
      tools: "json",
      metadata: "json",
      score: "number",
      solved: "boolean",
      decided_by: { list: "string" },
      tags: { list: "string" },
    },
    required: [["messages"], ["prompt", "completion"]],
    reasoning: { default: "keep", field: true },
    canonical: true,
    lossField: "loss",
    write(dialogue, record, options) {
      const { system, messages } = dialogue;
      const line = toLine({ ...record, extra: {}, rest: options.container === "parquet" ? {} : record.rest });
      return {
        row: {
          ...line,
          messages: rows(messages, options, system),
          tools: record.tools && shareText(record.tools),
        },
      };
    },
    read: readCompletion,
    template: (row) => plainChat([...listOf(row.prompt), ...listOf(row.completion ?? row.messages)], row.tools),
    pairs: {
      preference: {
        columns: { dataset: "string", prompt: MESSAGES, ...sides(), tools: "json" },
        write: ({ prompt, chosen, rejected, records }, options) => ({
          row: {
            dataset: records.chosen.dataset,
            prompt: rows(prompt.messages, options, prompt.system),
            chosen: side(chosen, records.chosen, options),
            rejected: side(rejected, records.rejected, options),
            tools: shareText(prompt.tools),
          },
        }),
      },
      kto: {
        columns: {
          prompt: MESSAGES,
          completion: MESSAGES,
          label: "boolean",
          score: "number",
          tools: "json",
        },
        write: ({ prompt, completion, label, record }, options) => ({
          row: {
            prompt: rows(prompt.messages, options, prompt.system),
            completion: rows([completion], options),
            label,
            score: float(record.score),
            tools: shareText(prompt.tools),
          },
        }),
      },
    },
  };
}

function sides(): { [name: string]: ColumnType } {
  return { chosen: { fields: SIDES }, rejected: { fields: SIDES } };
}

function side(reply: Pair["chosen"], { id, score }: ExportRecord, options: FormatOptions): DatasetRow {
  return { id, score: float(score), messages: rows([reply], options) };
}

function rows(messages: DialogueMessage[], options: FormatOptions, system?: string): DatasetRow[] {
  return chatMessages({ system, messages }, style, options) as DatasetRow[];
}
