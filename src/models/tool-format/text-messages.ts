// A dialogue in a text format: calls in the agent's own words, the results of one message's calls as one user message.
import type { ChatMessage, ToolCall, ToolSpec } from "../../core/index.ts";
import type { TextFormat } from "./format.ts";
import { TEXT_FORMATS, type TextFormatName } from "./formats.ts";
import { toTextSystem } from "./text-system.ts";

/** For datasets: a dialogue as such a model is asked and answers; reasoning only where it is part of the text. */
export function toTextDialogue(
  name: TextFormatName,
  { system, tools, messages }: { system: string; tools: readonly ToolSpec[]; messages: readonly ChatMessage[] },
): { system: string; messages: ChatMessage[]; hasThoughts: boolean } {
  const format = TEXT_FORMATS[name];
  const { hasThoughts = false } = format;
  const said = messages.map((message) =>
    message.role === "assistant" && !hasThoughts ? { ...message, reasoning: undefined } : message,
  );
  return { system: toTextSystem(system, tools, format), messages: toTextMessages(said, tools, format), hasThoughts };
}

type Result = Extract<ChatMessage, { role: "tool" }>;

/** Results and what a user says behind them are one message: some templates refuse two of a side in a row. */
export function toTextMessages(
  messages: readonly ChatMessage[],
  tools: readonly ToolSpec[],
  format: TextFormat,
): ChatMessage[] {
  const texts: ChatMessage[] = [];
  let calls: readonly ToolCall[] = [];
  let results: Result[] = [];
  const placeOf = ({ callId }: Result) => calls.findIndex(({ id }) => id === callId);
  const flush = (said?: string) => {
    const ordered = results.toSorted((a, b) => placeOf(a) - placeOf(b)).map(({ content }) => content);
    const text = ordered.length > 0 ? format.writeResults(ordered, said) : said;
    if (text !== undefined) texts.push({ role: "user", content: text });
    results = [];
  };
  for (const message of messages) {
    if (message.role === "tool") results.push(message);
    else if (message.role === "user") flush(message.content);
    else {
      flush();
      calls = message.toolCalls ?? [];
      texts.push({ role: "assistant", content: format.write(message, tools) });
    }
  }
  flush();
  return texts;
}
