// verl, multi-turn SFT: Parquet with `messages`, `tools` and `enable_thinking`. Parquet would fill records of mixed shape
// with nulls, so arguments and parameter schemas are JSON text. verl's own class renders each message alone and parses
// nothing: templates then drop reasoning, and see schemas as escaped text. `rollout_verl.py`, which goes with the rows,
// is the class for verl's `data.custom_cls` that renders the whole row and learns the flagged messages.
import { fileURLToPath } from "node:url";
import { isObject, type JsonObject, remember } from "../../core/index.ts";
import { sharedText } from "../row-text.ts";
import { type ChatStyle, chatColumn, chatMessages, malformed, parsedChat, readChat } from "./chat.ts";
import type { ColumnType, Format } from "./format.ts";

const style: ChatStyle = { ids: true, guardsThink: true, arguments: "string", lossField: "loss", lossDefault: true };
const TOOLS: ColumnType = {
  list: {
    fields: {
      type: "string",
      function: { fields: { name: "string", description: "string", parameters: "string", strict: "boolean" } },
    },
  },
};

export const verlSft: Format = {
  name: "verl-sft",
  container: "parquet",
  columns: { messages: chatColumn({ loss: "boolean" }), tools: TOOLS, enable_thinking: "boolean" },
  reasoning: { default: "keep", field: true },
  unroll: "turn",
  advice: () =>
    "verl: set data.custom_cls.path to the rollout_verl.py next to the rows and data.custom_cls.name=RolloutDataset",
  lossField: "loss",
  shortIds: true,
  files: { "rollout_verl.py": fileURLToPath(new URL("./rollout_verl.py", import.meta.url)) },
  write(dialogue, _record, options) {
    const messages = chatMessages(dialogue, style, options);
    if (!messages) return malformed;
    const thinks = dialogue.messages.some((message) => message.role === "assistant" && message.reasoning);
    return { row: { messages, tools: toolsOf(dialogue.tools), enable_thinking: thinks } };
  },
  read: (row) => readChat(row.messages, row.tools),
  template: (row) => parsedChat(row.messages, row.tools),
};

const toolsOf = remember((tools: JsonObject[]): unknown[] =>
  tools.map((tool) => {
    const { parameters = {}, ...named } = (isObject(tool.function) ? tool.function : tool) as JsonObject;
    const { name, description = "", strict } = named;
    return {
      type: "function",
      function: { name, description, parameters: sharedText(parameters as object), strict },
    };
  }),
);
