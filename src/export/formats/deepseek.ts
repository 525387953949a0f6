// The preprocessing shape of the seed's `add_key.py`: exactly five members in a message, null where absent.

import type { DatasetRow } from "../row-text.ts";
import { type DialogueMessage, withThinking } from "../training-dialogue.ts";
import { CALLS, readChat, toolsColumn } from "./chat.ts";
import type { Format } from "./format.ts";

export const deepseek: Format = {
  name: "deepseek",
  container: "jsonl",
  columns: {
    messages: {
      list: {
        fields: {
          role: "string",
          content: "string",
          reasoning_content: "string",
          tool_calls: CALLS,
          tool_call_id: "string",
        },
      },
    },
    id: "string",
    data_source: "string",
    use_cot: "boolean",
    tools: "json",
  },
  reasoning: { default: "keep", field: true },
  write(dialogue, record, { inline, dataSource, useCot }) {
    const { system, tools } = dialogue;
    const messages: DatasetRow[] = system === undefined ? [] : [{ ...EMPTY, role: "system", content: system }];
    for (const message of dialogue.messages) messages.push(row(message, inline));
    return {
      row: {
        messages,
        id: record.id,
        data_source: dataSource,
        use_cot: useCot,
        tools: record.tools ? toolsColumn(tools, "list") : null,
      },
    };
  },
  read: (row) => readChat(row.messages, row.tools),
};

const EMPTY: DatasetRow = { role: null, content: null, reasoning_content: null, tool_calls: null, tool_call_id: null };

function row(message: DialogueMessage, inline: boolean): DatasetRow {
  const { role, content } = message;
  if (message.role === "user") return { ...EMPTY, role, content };
  if (message.role === "tool") return { ...EMPTY, role, content, tool_call_id: message.callId };
  const calls = message.calls.map(({ id, name, arguments: given }) => ({
    id,
    type: "function",
    function: { name, arguments: given },
  }));
  return {
    role,
    content: inline ? withThinking(message, content) : content,
    reasoning_content: inline ? null : (message.reasoning ?? null),
    tool_calls: calls.length > 0 ? calls : null,
    tool_call_id: null,
  };
}
