// Axolotl, `type: chat_template`: arguments and tools as JSON text, which its loader parses, since one argument name may
// hold several types; a message's `train` says whether it is learnt (`message_field_training: train`).
import { type ChatStyle, chatColumn, chatMessages, malformed, readChat, toolsColumn } from "./chat.ts";
import { type Format, structureProblem } from "./format.ts";

const style: ChatStyle = { ids: true, arguments: "string", lossField: "train" };

export const axolotl: Format = {
  name: "axolotl",
  container: "jsonl",
  columns: { messages: chatColumn({ train: "boolean" }), tools: "string" },
  reasoning: { default: "keep", field: true },
  lossField: "train",
  write(dialogue, _record, options) {
    const reason = structureProblem(dialogue.messages);
    if (reason) return { reason };
    const rows = chatMessages(dialogue, style, options);
    return rows ? { row: { messages: rows, tools: toolsColumn(dialogue.tools, "text") } } : malformed;
  },
  read: (row) => readChat(row.messages, row.tools),
};
