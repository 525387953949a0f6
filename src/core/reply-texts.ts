// Changing what a reply says, wherever it says it: its words, its thoughts, its calls. Most replies stay as they are.
import type { ToolCall } from "./message.ts";
import type { ModelReply } from "./model.ts";

type Change = (text: string) => string;

/** How many texts were changed, and the reply with them; the same reply if none was. `changeJson`: what is in JSON. */
export function changeTexts(
  reply: ModelReply,
  change: Change,
  changeJson: Change,
): { count: number; reply: ModelReply } {
  let count = 0;
  const tried = (text: string, changeIt: Change) => {
    const changed = changeIt(text);
    if (changed !== text) count++;
    return changed;
  };
  const content = tried(reply.content, change);
  const reasoning = reply.reasoning === undefined ? undefined : tried(reply.reasoning, change);
  let toolCalls = reply.toolCalls;
  for (let index = 0; index < toolCalls.length; index++) {
    const call = toolCalls[index] as ToolCall;
    const before = count;
    const id = tried(call.id, change);
    const name = tried(call.name, change);
    const text = tried(call.arguments, changeJson);
    if (count > before) toolCalls = toolCalls.with(index, { ...call, id, name, arguments: text });
  }
  if (count === 0) return { count, reply };
  return { count, reply: { ...reply, content, ...(reasoning === undefined ? {} : { reasoning }), toolCalls } };
}
