// Axolotl, `type: chat_template`: arguments and tools as JSON text, which its loader parses, since one argument name may
// hold several types; a message's `train` says whether it is trained on (`message_field_training: train`). The last
// message is the agent's: the loader wants a trainable last turn.
import { type ChatStyle, chatColumn, chatMessages, malformed, readChat, toolsColumn } from "./chat.ts";
import { CUT_TAIL, endWithAgent, type Format, structureProblem } from "./format.ts";

const style: ChatStyle = { ids: true, arguments: "string", lossField: "train" };

export const axolotl: Format = {
  name: "axolotl",
  container: "jsonl",
  columns: { messages: chatColumn({ train: "boolean" }), tools: "string" },
  reasoning: { default: "keep", field: true },
  lossField: "train",
  write(dialogue, _record, options) {
    const { messages, cut } = endWithAgent(dialogue.messages);
    const reason = structureProblem(messages);
    if (reason) return { reason };
    const rows = chatMessages({ system: dialogue.system, messages }, style, options);
    if (!rows) return malformed;
    const row = { messages: rows, tools: toolsColumn(dialogue.tools, "text") };
    return cut ? { row, notes: [CUT_TAIL] } : { row };
  },
  read: (row) => readChat(row.messages, row.tools),
};
