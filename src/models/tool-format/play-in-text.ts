// For scripted models: a request in a text format read back into tools, calls and results, and the reply written as text,
// as a model without function calling would write it.
import type { ChatMessage, ModelReply, ModelRequest, ToolCall } from "../../core/index.ts";
import { splitThinking } from "../reasoning.ts";
import type { TextFormat } from "./format.ts";
import { TEXT_FORMATS } from "./formats.ts";

type Said = Pick<ModelRequest, "system" | "messages" | "tools" | "toolChoice">;

/** `play` gets the request as it was before it became text, and its reply becomes text. */
export async function playInText<R extends Said>(
  request: R,
  play: (request: R) => Promise<ModelReply>,
): Promise<ModelReply> {
  const read = request.tools.length > 0 ? undefined : readRequest(request);
  if (!read) return play(request);
  const { format, said } = read;
  const { reasoning: _, ...reply } = await play({ ...request, ...said }).then((played) => ({
    ...played,
    content: format.write(played, said.tools),
  }));
  return { ...reply, toolCalls: [], finish: reply.finish === "tool-calls" ? "stop" : reply.finish };
}

function readRequest(request: Said): { format: TextFormat; said: Said } | undefined {
  for (const format of Object.values(TEXT_FORMATS)) {
    const found = format.readTools(request.system);
    if (!found) continue;
    const { messages, isOff } = readMessages(request.messages, found.tools, format);
    return { format, said: { ...found, messages, toolChoice: isOff ? "none" : request.toolChoice } };
  }
  return undefined;
}

function readMessages(texts: readonly ChatMessage[], tools: ModelRequest["tools"], format: TextFormat) {
  const messages: ChatMessage[] = [];
  const note = `\n\n${format.toolsOff}`;
  let calls: ToolCall[] = [];
  let isOff = false;
  for (const [index, { role, content: text }] of texts.entries()) {
    if (role === "assistant") {
      const read = format.read(splitThinking(text).content, tools);
      calls = read.calls.map((call, number) => ({ ...call, id: `text_${index}_${number}` }));
      messages.push({ role, content: read.content, ...(calls.length > 0 && { toolCalls: calls }) });
      continue;
    }
    isOff = text.endsWith(note);
    const said = isOff ? text.slice(0, -note.length) : text;
    const { results, rest } = calls.length > 0 ? format.readResults(said, calls.length) : { results: [], rest: said };
    for (const [number, content] of results.entries()) {
      const call = calls[number] as ToolCall;
      messages.push({ role: "tool", callId: call.id, name: call.name, content, isError: false });
    }
    if (results.length === 0 || rest !== "") messages.push({ role: "user", content: rest });
    calls = [];
  }
  return { messages, isOff };
}
