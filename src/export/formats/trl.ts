// Hugging Face TRL. By reply or by turn: `prompt` and `completion`, of which only the completion is learnt; whole
// dialogues: `messages`. By reply is the default: TRL masks tool results inside a completion only for the few templates
// it has a copy of, and gpt-oss drops the reasoning of all but the last reply of a turn. Messages and tools are JSON to
// `datasets` from 4.7 on, so that they come back as they are, without nulls for members that others have;
// `--arguments string` writes arguments and tools as text for older ones. Templates are told whether the agent thinks.
import { hasHugeNumber, hasHugeNumbers, hasLongFraction } from "../huge-numbers.ts";
import type { DatasetRow } from "../row-text.ts";
import type { AgentMessage, DialogueMessage, TrainingDialogue } from "../training-dialogue.ts";
import { type ChatStyle, chatColumn, chatMessages, malformed, plainChat, readCompletion, toolsColumn } from "./chat.ts";
import { type ColumnType, type Format, type FormatOptions, inCallOrder, listOf, type Written } from "./format.ts";

const SHAPE = chatColumn({}, "json");
const KWARGS: ColumnType = { fields: { enable_thinking: "boolean", thinking: "boolean" } };
const MASKED =
  "trl: completions hold tool results: train with assistant_only_loss=True, or export with --unroll step, which needs no mask";

export const trl: Format = {
  name: "trl",
  container: "jsonl",
  columns: { prompt: "json", completion: "json", tools: "json", chat_template_kwargs: KWARGS },
  columnsFor: (unroll) =>
    unroll === "dialogue" ? { messages: "json", tools: "json", chat_template_kwargs: KWARGS } : trl.columns,
  shapes: { messages: SHAPE, prompt: SHAPE, completion: SHAPE, chosen: SHAPE, rejected: SHAPE },
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
      columns: { prompt: "json", chosen: "json", rejected: "json", tools: "json", chat_template_kwargs: KWARGS },
      write: ({ prompt, chosen, rejected }, options) =>
        writeEnds(prompt, [chosen, rejected], options, (given, [better, worse]) => ({
          prompt: given,
          chosen: [better],
          rejected: [worse],
        })),
    },
    kto: {
      columns: { prompt: "json", completion: "json", label: "boolean", tools: "json", chat_template_kwargs: KWARGS },
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
  if (!asText && (hasHugeNumbers(tools) || messages.some((message) => callsWith(message, hasHugeNumber))))
    return { reason: HUGE };
  const style: ChatStyle = { ids: true, names: true, guardsThink: true, arguments: asText ? "string" : "object" };
  const rows = chatMessages({ system, messages }, style, options);
  if (!rows) return malformed;
  const thinks = messages.some((message) => message.role === "assistant" && message.reasoning !== undefined);
  const isShortened = !asText && messages.some((message) => callsWith(message, hasLongFraction));
  return {
    notes: isShortened ? [SHORTENED] : [],
    row: {
      ...arrange(rows),
      tools: toolsColumn(tools, asText ? "text" : "list"),
      chat_template_kwargs: { enable_thinking: thinks, thinking: thinks },
    },
  };
}

const HUGE = "a number beyond 64 bits, which Hugging Face datasets cannot hold (--arguments string writes it as text)";

const SHORTENED =
  "a number of more than ten decimals, which Hugging Face datasets shorten (--arguments string keeps it)";

function callsWith(message: DialogueMessage, test: (json: string) => boolean): boolean {
  return message.role === "assistant" && message.calls.some((call) => test(call.arguments));
}
