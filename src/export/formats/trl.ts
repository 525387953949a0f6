// Hugging Face TRL: `messages` with arguments as objects and results under the tool's name. `datasets` before 4.7 cannot
// hold objects of mixed shape, so `--arguments string` and Parquet write them, and `tools`, as JSON text.
import { type ChatStyle, chatColumn, chatMessages, malformed, readChat, toolsColumn } from "./chat.ts";
import { type Format, type FormatOptions, inCallOrder, structureProblem } from "./format.ts";

const MESSAGES = chatColumn();

export const trl: Format = {
  name: "trl",
  container: "jsonl",
  columns: { messages: MESSAGES, tools: "string" },
  reasoning: { default: "keep", field: true },
  write(dialogue, _record, options) {
    const reason = structureProblem(dialogue.messages);
    if (reason) return { reason };
    const messages = inCallOrder(dialogue.messages);
    const rows = chatMessages({ system: dialogue.system, messages }, styleOf(options), options);
    return rows ? { row: { messages: rows, tools: toolsOf(dialogue.tools, options) } } : malformed;
  },
  read: (row) => readChat(row.messages, row.tools),
  pairs: {
    preference: {
      columns: { prompt: MESSAGES, chosen: MESSAGES, rejected: MESSAGES, tools: "string" },
      write(pair, options) {
        const [prompt, chosen, rejected] = [
          { system: pair.prompt.system, messages: inCallOrder(pair.prompt.messages) },
          { system: undefined, messages: inCallOrder(pair.chosen) },
          { system: undefined, messages: inCallOrder(pair.rejected) },
        ].map((part) => chatMessages(part, styleOf(options), options));
        if (!prompt || !chosen || !rejected) return malformed;
        return { row: { prompt, chosen, rejected, tools: toolsOf(pair.prompt.tools, options) } };
      },
    },
    kto: {
      columns: { prompt: MESSAGES, completion: MESSAGES, label: "boolean", tools: "string" },
      write(judged, options) {
        const prompt = chatMessages(judged.prompt, styleOf(options), options);
        const messages = inCallOrder(judged.completion);
        const completion = chatMessages({ system: undefined, messages }, styleOf(options), options);
        if (!prompt || !completion) return malformed;
        return { row: { prompt, completion, label: judged.label, tools: toolsOf(judged.prompt.tools, options) } };
      },
    },
  },
};

function styleOf(options: FormatOptions): ChatStyle {
  return { ids: false, arguments: asText(options) ? "string" : "object" };
}

function toolsOf(tools: Parameters<typeof toolsColumn>[0], options: FormatOptions): unknown {
  return toolsColumn(tools, asText(options) ? "text" : "list");
}

function asText(options: FormatOptions): boolean {
  return options.container === "parquet" || options.arguments === "string";
}
