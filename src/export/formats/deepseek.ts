// The preprocessing shape of the seed's `add_key.py`: exactly five members in a message, null where absent.

import type { DatasetRow } from "../row-text.ts";
import { type DialogueMessage, withThinking } from "../training-dialogue.ts";
import { CALLS, plainChat, readChat, toolsColumn } from "./chat.ts";
import { type Format, listOf, type Reading } from "./format.ts";

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
    data_source: "string",
    use_cot: "boolean",
    tools: "json",
  },
  required: [["id", "messages", "data_source", "use_cot", "tools"]],
  reasoning: { default: "keep", field: true },
  unroll: "turn",
  advice: (unroll) =>
    unroll === "dialogue"
      ? undefined
      : `deepseek: rows have no loss flags; learn ${unroll === "turn" ? "what follows the last user message" : "the last message"}`,
  learnsBehindUser: true,
  shortIds: true,
  write(dialogue, { tools: known }, { inline, dataSource, useCot }) {
    const { system, tools } = dialogue;
    const messages: DatasetRow[] = system === undefined ? [] : [{ ...EMPTY, role: "system", content: system }];
    for (const message of dialogue.messages) messages.push(row(message, inline));
    return {
      row: {
        messages,
        data_source: dataSource,
        use_cot: useCot,
        tools: known ? toolsColumn(tools, "list") : null,
      },
    };
  },
  read(row) {
    const reading = withLearnt(readChat(row.messages, row.tools));
    const isExact = listOf(row.messages).every((message) => MEMBERS.every((name) => Object.hasOwn(message, name)));
    if (!isExact) reading.problems.push(`a message does not have exactly the members ${MEMBERS.join(", ")}`);
    return reading;
  },
  template: (row) => plainChat(row.messages, row.tools),
};

const MEMBERS = ["role", "content", "reasoning_content", "tool_calls", "tool_call_id"];
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

/** Rows have no flags: what follows the last user message is learnt. */
function withLearnt(reading: Reading): Reading {
  const { messages } = reading.dialogue;
  const last = messages.findLastIndex(({ role }) => role === "user");
  for (const [index, message] of messages.entries()) if (message.role === "assistant") message.loss = index > last;
  return reading;
}
