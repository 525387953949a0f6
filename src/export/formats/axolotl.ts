// Axolotl, `type: chat_template`: arguments and tools as JSON text, which its loader parses, since one argument name may
// hold several types; a message's `train` says whether it is trained on (`message_field_training: train`). The last
// message is the agent's: the loader wants a trainable last turn.
import { type ChatStyle, chatColumn, readChat, toolsColumn, writeEndedChat } from "./chat.ts";
import type { Format } from "./format.ts";

const style: ChatStyle = { ids: true, arguments: "string", lossField: "train" };

export const axolotl: Format = {
  name: "axolotl",
  container: "jsonl",
  columns: { messages: chatColumn({ train: "boolean" }), tools: "string" },
  reasoning: { default: "keep", field: true },
  lossField: "train",
  write(dialogue, _record, options) {
    const chat = writeEndedChat(dialogue, style, options);
    if ("reason" in chat) return chat;
    return { row: { messages: chat.messages, tools: toolsColumn(dialogue.tools, "text") }, notes: chat.notes };
  },
  read: (row) => readChat(row.messages, row.tools),
};
