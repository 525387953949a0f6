// Axolotl, `type: chat_template`: arguments and tools as JSON text, which its loader parses, since one argument name may
// hold several types; a message's `train` says whether it is trained on (`message_field_training: train`). Axolotl finds a
// message by rendering the dialogue with another in its place: inside a turn some templates then fail, or move tool
// results into the loss, so rows are by reply.
import { type ChatStyle, chatColumn, chatMessages, malformed, parsedChat, readChat, toolsColumn } from "./chat.ts";
import type { Format } from "./format.ts";

const style: ChatStyle = { ids: true, guardsThink: true, arguments: "string", lossField: "train" };

export const axolotl: Format = {
  name: "axolotl",
  container: "jsonl",
  columns: { messages: chatColumn({ train: "boolean" }), tools: "string" },
  reasoning: { default: "keep", field: true },
  unroll: "step",
  advice: () =>
    "axolotl: set message_field_training: train, and message_property_mappings as in docs/export.md, or GLM's templates see no calls",
  lossField: "train",
  shortIds: true,
  write(dialogue, _record, options) {
    const messages = chatMessages(dialogue, style, options);
    return messages ? { row: { messages, tools: toolsColumn(dialogue.tools, "text") } } : malformed;
  },
  read: (row) => readChat(row.messages, row.tools),
  template: (row) => parsedChat(row.messages, row.tools),
};
