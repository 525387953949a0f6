// OpenAI's fine-tuning rows: `messages` and `tools`; the last message is the agent's; an empty list is refused, so its key
// is left out. Arguments stay the text that the model wrote.
import { type ChatStyle, chatColumn, chatMessages, readChat, toolsColumn, writeEndedChat } from "./chat.ts";
import type { Format } from "./format.ts";

const style: ChatStyle = { ids: true, arguments: "raw", lossField: "weight", lossValue: (loss) => (loss ? 1 : 0) };

export const openai: Format = {
  name: "openai",
  container: "jsonl",
  columns: { messages: chatColumn({ weight: "integer" }), tools: "json", parallel_tool_calls: "boolean" },
  reasoning: { default: "drop", field: true },
  lossField: "weight",
  write(dialogue, _record, options) {
    const chat = writeEndedChat(dialogue, style, options);
    if ("reason" in chat) return chat;
    const { messages, tools } = dialogue;
    const isParallel = messages.some((message) => message.role === "assistant" && message.calls.length > 1);
    return {
      row: {
        messages: chat.messages,
        tools: tools.length > 0 ? toolsColumn(tools, "list") : undefined,
        parallel_tool_calls: isParallel || undefined,
      },
      notes: chat.notes,
    };
  },
  read(row) {
    const reading = readChat(row.messages, row.tools);
    if (Array.isArray(row.tools) && row.tools.length === 0) reading.problems.push("tools is empty: leave the key out");
    if (reading.dialogue.messages.at(-1)?.role !== "assistant")
      reading.problems.push("the last message is not the agent's");
    return reading;
  },
  pairs: {
    preference: {
      columns: { input: "json", preferred_output: "json", non_preferred_output: "json" },
      write({ prompt, chosen, rejected }, options) {
        const given = chatMessages(prompt, style, options);
        const better = chatMessages({ system: undefined, messages: chosen.slice(0, 1) }, style, options);
        const worse = chatMessages({ system: undefined, messages: rejected.slice(0, 1) }, style, options);
        const tools = prompt.tools.length > 0 ? { tools: prompt.tools } : {};
        return { row: { input: { messages: given, ...tools }, preferred_output: better, non_preferred_output: worse } };
      },
    },
  },
};
