// verl, multi-turn SFT: Parquet with `messages`, `tools` and `enable_thinking`. Its loader hands `tools` to the chat template
// as they are and parses no text, so they are records; their parameter schemas, which differ from tool to tool, are
// JSON text inside them, since Parquet would fill records of mixed shape with nulls.
import { isObject, type JsonObject } from "../../core/index.ts";
import { type ChatStyle, chatColumn, chatMessages, malformed, readChat } from "./chat.ts";
import { type ColumnType, type Format, structureProblem } from "./format.ts";

const style: ChatStyle = { ids: true, arguments: "string" };
const TOOLS: ColumnType = {
  list: {
    fields: {
      type: "string",
      function: { fields: { name: "string", description: "string", parameters: "string" } },
    },
  },
};

export const verlSft: Format = {
  name: "verl-sft",
  container: "parquet",
  columns: { messages: chatColumn(), tools: TOOLS, enable_thinking: "boolean" },
  reasoning: { default: "keep", field: true },
  write(dialogue, _record, options) {
    const reason = structureProblem(dialogue.messages);
    if (reason) return { reason };
    const rows = chatMessages(dialogue, style, options);
    if (!rows) return malformed;
    const thinks = dialogue.messages.some((message) => message.role === "assistant" && message.reasoning);
    return { row: { messages: rows, tools: toolsOf(dialogue.tools), enable_thinking: thinks } };
  },
  read: (row) => readChat(row.messages, row.tools),
};

const known = new WeakMap<JsonObject[], unknown[]>();

function toolsOf(tools: JsonObject[]): unknown[] {
  let flat = known.get(tools);
  if (!flat) {
    flat = tools.map((tool) => {
      const {
        name,
        description = "",
        parameters = {},
      } = (isObject(tool.function) ? tool.function : tool) as JsonObject;
      return { type: "function", function: { name, description, parameters: JSON.stringify(parameters) } };
    });
    known.set(tools, flat);
  }
  return flat;
}
