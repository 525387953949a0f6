// Hugging Face TRL. By reply or by turn: `prompt` and `completion`, of which only the completion is learnt; whole
// dialogues: `messages`. By reply is the default: TRL masks tool results inside a completion only for the few templates
// it has a copy of, and gpt-oss drops the reasoning of all but the last reply of a turn. Arguments are objects, which `datasets` from 4.7 on holds whatever their shapes;
// `--arguments string` writes them and `tools` as JSON text for older ones.

import { hasHugeNumber, hasHugeNumbers } from "../huge-numbers.ts";
import type { DatasetRow } from "../row-text.ts";
import type { AgentMessage, DialogueMessage, TrainingDialogue } from "../training-dialogue.ts";
import { type ChatStyle, chatColumn, chatMessages, malformed, plainChat, readCompletion, toolsColumn } from "./chat.ts";
import { type Format, type FormatOptions, inCallOrder, listOf, type Written } from "./format.ts";

const MESSAGES = chatColumn({}, "json");
const MASKED =
  "trl: completions hold tool results: train with assistant_only_loss=True, or export with --unroll step, which needs no mask";

export const trl: Format = {
  name: "trl",
  container: "jsonl",
  columns: { prompt: MESSAGES, completion: MESSAGES, tools: "json" },
  columnsFor: (unroll) => (unroll === "dialogue" ? { messages: MESSAGES, tools: "json" } : trl.columns),
  required: [["messages"], ["prompt", "completion"]],
  reasoning: { default: "keep", field: true },
  unroll: "step",
  advice: (unroll, pairs) =>
    pairs
      ? undefined
      : unroll === "turn"
        ? MASKED
        : unroll === "dialogue"
          ? "trl: train with assistant_only_loss=True"
          : undefined,
  shortIds: true,
  write(dialogue, _record, options) {
    const messages = inCallOrder(dialogue.messages);
    if (options.context === undefined) return write({ ...dialogue, messages }, options, (all) => ({ messages: all }));
    const skip = dialogue.system === undefined ? options.context : options.context + 1;
    if (skip === 0)
      return { reason: "the agent speaks first, and there is no system prompt: the prompt would be empty" };
    return write({ ...dialogue, messages }, options, (all) => ({
      prompt: all.slice(0, skip),
      completion: all.slice(skip),
    }));
  },
  read: readCompletion,
  template: (row) => plainChat([...listOf(row.prompt), ...listOf(row.completion ?? row.messages)], row.tools),
  pairs: {
    preference: {
      columns: { prompt: MESSAGES, chosen: MESSAGES, rejected: MESSAGES, tools: "json" },
      write: ({ prompt, chosen, rejected }, options) =>
        writeEnds(prompt, [chosen, rejected], options, (given, [better, worse]) => ({
          prompt: given,
          chosen: [better],
          rejected: [worse],
        })),
    },
    kto: {
      columns: { prompt: MESSAGES, completion: MESSAGES, label: "boolean", tools: "json" },
      write: ({ prompt, completion, label }, options) =>
        writeEnds(prompt, [completion], options, (given, ends) => ({ prompt: given, completion: ends, label })),
    },
  },
};

/** Rows for a shared beginning and one or two replies to it. */
function writeEnds(
  prompt: TrainingDialogue,
  ends: AgentMessage[],
  options: FormatOptions,
  arrange: (prompt: DatasetRow[], ends: DatasetRow[]) => DatasetRow,
): Written {
  const messages: DialogueMessage[] = [...inCallOrder(prompt.messages), ...ends];
  return write({ ...prompt, messages }, options, (all) => arrange(all.slice(0, -ends.length), all.slice(-ends.length)));
}

function write(
  { system, messages, tools }: TrainingDialogue,
  options: FormatOptions,
  arrange: (messages: DatasetRow[]) => DatasetRow,
): Written {
  const asText = options.arguments === "string";
  if (!asText && (hasHugeNumbers(tools) || messages.some(callsWithHugeNumber))) return { reason: HUGE };
  const style: ChatStyle = { ids: true, names: true, guardsThink: true, arguments: asText ? "string" : "object" };
  const rows = chatMessages({ system, messages }, style, options);
  if (!rows) return malformed;
  return { row: { ...arrange(rows), tools: toolsColumn(tools, asText ? "text" : "list") } };
}

const HUGE = "a number beyond 64 bits, which Hugging Face datasets cannot hold (--arguments string writes it as text)";

function callsWithHugeNumber(message: DialogueMessage): boolean {
  return message.role === "assistant" && message.calls.some((call) => hasHugeNumber(call.arguments));
}
