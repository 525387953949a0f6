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
  const flush = (next?: ChatMessage) => {
    const said = next?.content;
    const ordered = results.toSorted((a, b) => placeOf(a) - placeOf(b)).map(({ content }) => content);
    const text = ordered.length > 0 ? format.writeResults(ordered, said) : said;
    const last = next ?? results.at(-1);
    if (text !== undefined && last) texts.push(toText("user", text, last));
    results = [];
  };
  for (const message of messages) {
    if (message.role === "tool") results.push(message);
    else if (message.role === "user") flush(message);
    else {
      flush();
      calls = message.toolCalls ?? [];
      texts.push(toText("assistant", format.write(message, tools), message));
    }
  }
  flush();
  return texts;
}

const made = new WeakMap<ChatMessage, ChatMessage>();

/** The same object for the same text of a message: whoever writes requests knows by it what was written before. */
function toText(role: "user" | "assistant", content: string, from: ChatMessage): ChatMessage {
  const known = made.get(from);
  if (known?.role === role && known.content === content) return known;
  const message: ChatMessage = { role, content };
  made.set(from, message);
  return message;
}
