// OpenAI's fine-tuning rows: `messages` and `tools`; the last message is the agent's; an empty list is refused, so its key
// is left out. Arguments stay the text that the model wrote.
import { type ChatStyle, chatColumn, chatMessages, plainChat, readChat, toolsColumn } from "./chat.ts";
import { type Format, listOf } from "./format.ts";

const style: ChatStyle = { ids: true, arguments: "raw", lossField: "weight", lossValue: (loss) => (loss ? 1 : 0) };

const MEMBERS = new Set([
  ...["role", "content", "name", "tool_calls", "tool_call_id", "weight", "refusal", "audio", "reasoning_content"],
]);

export const openai: Format = {
  name: "openai",
  container: "jsonl",
  columns: { messages: chatColumn({ weight: "integer" }), tools: "json", parallel_tool_calls: "boolean" },
  reasoning: { default: "drop", field: true },
  lossField: "weight",
  write(dialogue, _record, options) {
    const { messages, tools } = dialogue;
    const isParallel = messages.some((message) => message.role === "assistant" && message.calls.length > 1);
    return {
      row: {
        messages: chatMessages(dialogue, style, options),
        tools: tools.length > 0 ? toolsColumn(tools, "list") : undefined,
        parallel_tool_calls: isParallel || undefined,
      },
    };
  },
  read(row) {
    const reading = readChat(row.messages, row.tools);
    const unknown = listOf(row.messages).flatMap((message) =>
      Object.keys(message).filter((name) => !MEMBERS.has(name)),
    );
    for (const name of new Set(unknown)) reading.problems.push(`messages have the unknown member ${name}`);
    if (listOf(row.messages).some((message) => message.tool_calls === null || message.tool_call_id === null))
      reading.problems.push("tool_calls or tool_call_id is null: leave the key out");
    if (Array.isArray(row.tools) && row.tools.length === 0) reading.problems.push("tools is empty: leave the key out");
    if (reading.dialogue.messages.at(-1)?.role !== "assistant")
      reading.problems.push("the last message is not the agent's");
    return reading;
  },
  template: (row) => plainChat(row.messages, row.tools),
  pairs: {
    preference: {
      columns: { input: "json", preferred_output: "json", non_preferred_output: "json" },
      write({ prompt, chosen, rejected }, options) {
        const given = chatMessages(prompt, style, options);
        const [better, worse] = [chosen, rejected].map((message) =>
          chatMessages({ system: undefined, messages: [message] }, style, options),
        );
        const tools = prompt.tools.length > 0 ? { tools: prompt.tools } : {};
        return { row: { input: { messages: given, ...tools }, preferred_output: better, non_preferred_output: worse } };
      },
    },
  },
};
