// LLaMA-Factory, `formatting: openai`. Its loader turns `tool_calls` into JSON text as they are: string arguments would
// be encoded twice, and objects of mixed shape are filled with nulls by the `datasets` version it requires. So calls
// are already written as that text, under the role that `function_tag` names.
import { isObject, type JsonObject } from "../../core/index.ts";
import type { DatasetRow } from "../row-text.ts";
import { type DialogueMessage, type TrainingDialogue, withThinking } from "../training-dialogue.ts";
import { alternate, callsText } from "./alternating.ts";
import { readChat, toolsColumn } from "./chat.ts";
import { type ColumnType, type Format, listOf, type Reading, textOf } from "./format.ts";
import { adviseMask, llamafactory, ONLY_LAST } from "./llamafactory.ts";

const MESSAGES: ColumnType = { list: { fields: { role: "string", content: "string" } } };

export const llamafactoryOpenai: Format = {
  name: "llamafactory-openai",
  container: "jsonl",
  columns: { messages: MESSAGES, tools: "string" },
  reasoning: { default: "inline", field: false },
  refuses: { turn: ONLY_LAST },
  advice: adviseMask,
  write(dialogue) {
    const sides = alternate(dialogue.messages);
    if ("reason" in sides) return sides;
    const system = dialogue.system === undefined ? [] : [{ role: "system", content: dialogue.system }];
    return {
      ...sides,
      row: {
        messages: [...system, ...sides.messages.map(messageRow)],
        tools: dialogue.tools.length > 0 ? toolsColumn(dialogue.tools, "text") : "",
      },
    };
  },
  read,
  info: () => ({
    formatting: "openai",
    columns: { messages: "messages", tools: "tools" },
    tags: {
      role_tag: "role",
      content_tag: "content",
      user_tag: "user",
      assistant_tag: "assistant",
      observation_tag: "tool",
      function_tag: "function",
      system_tag: "system",
    },
  }),
};

function messageRow(message: DialogueMessage): DatasetRow {
  if (message.role !== "assistant") return { role: message.role, content: message.content };
  const calls = message.calls.length > 0;
  const content = calls ? callsText(message.calls) : message.content;
  return { role: calls ? "function" : "assistant", content: withThinking(message, content) };
}

/** By the loader's own steps: results of one reply become one observation, then sides take turns as in sharegpt. */
function read(row: JsonObject): Reading {
  const rows = listOf(row.messages);
  const turns: { from: string; value: string }[] = [];
  const tags: { [role: string]: string } = {
    user: "human",
    assistant: "gpt",
    function: "function_call",
    system: "system",
  };
  let dropped = 0;
  for (const message of rows) {
    const calls = listOf(message.tool_calls).map((call) => (isObject(call.function) ? call.function : call));
    if (calls.length > 0) {
      if (textOf(message.content) !== "") dropped++;
      turns.push({ from: "function_call", value: JSON.stringify(calls) });
    } else if (message.role === "tool") {
      const before = turns.at(-1);
      if (before?.from === "observation")
        before.value += `\n</tool_response>\n<tool_response>\n${textOf(message.content)}`;
      else turns.push({ from: "observation", value: textOf(message.content) });
    } else turns.push({ from: tags[textOf(message.role)] ?? textOf(message.role), value: textOf(message.content) });
  }
  const reading = llamafactory.read({ conversations: turns, system: "", tools: row.tools ?? "" });
  if (dropped > 0) reading.problems.push(`text next to tool_calls in ${dropped} messages, which the loader drops`);
  if (rows.length === 0)
    return {
      dialogue: readChat(undefined, undefined).dialogue as TrainingDialogue,
      problems: ["there are no messages"],
    };
  return reading;
}
