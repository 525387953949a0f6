// A model without function calling behind the same interface as any other: tools, calls and results go to it as text, and
// its replies come back with ordinary calls.
import { cutText, type ModelClient, type ModelReply, type ModelRequest, wellFormed } from "../../core/index.ts";
import { joinReasoning, splitThinking } from "../reasoning.ts";
import type { TextFormat } from "./format.ts";
import { TEXT_FORMATS, type ToolFormat } from "./formats.ts";
import { toTextMessages } from "./text-messages.ts";
import { toTextSystem } from "./text-system.ts";

export function withToolFormat(client: ModelClient, name: ToolFormat): ModelClient {
  if (name === "native") return client;
  const format = TEXT_FORMATS[name];
  return {
    id: client.id,
    async complete(request, signal) {
      if (!isAboutTools(request)) return client.complete(request, signal);
      return readReply(await client.complete(toTextRequest(request, format), signal), request, format);
    },
  };
}

function isAboutTools({ tools, messages }: ModelRequest): boolean {
  return tools.length > 0 || messages.some((message) => message.role === "tool");
}

function toTextRequest(request: ModelRequest, format: TextFormat): ModelRequest {
  const { system, tools, toolChoice } = request;
  const messages = toTextMessages(request.messages, tools, format);
  const last = messages.at(-1);
  const isOff = toolChoice === "none" && tools.length > 0;
  if (isOff && last?.role === "user")
    messages[messages.length - 1] = { role: "user", content: `${last.content}\n\n${format.toolsOff}` };
  return { ...request, system: toTextSystem(system, tools, format), messages, tools: [], stop: format.stop };
}

/** More of what was dropped says nothing new. */
const MAX_DROPPED = 2000;

function readReply(reply: ModelReply, { tools, origin }: ModelRequest, format: TextFormat): ModelReply {
  // dialects split it off already; own models and scripts do not
  const split = reply.reasoning === undefined ? splitThinking(reply.content) : { content: reply.content };
  const { content, reasoning, calls, faults } = format.read(split.content, tools);
  const prefix = origin.party === "user" ? "user_call" : "call";
  const toolCalls = [
    ...reply.toolCalls,
    ...calls.map(({ name, arguments: text }, index) => ({
      id: `${prefix}_${origin.position}_${index}`,
      name,
      arguments: text,
    })),
  ];
  const { malformed, formatFaults: _, reasoning: own, ...rest } = reply;
  const thoughts = joinReasoning(joinReasoning(own, split.reasoning), reasoning);
  const isEnded = faults.some(({ type }) => type === "made_up_result");
  return {
    ...rest,
    content,
    ...(thoughts !== undefined && { reasoning: thoughts }),
    toolCalls,
    finish: finishOf(reply.finish, toolCalls.length > 0, isEnded),
    ...(malformed && toolCalls.length === 0 && { malformed }),
    ...(faults.length > 0 && {
      formatFaults: faults.map(({ type, content: dropped }) => ({
        type,
        ...(dropped !== undefined && { content: wellFormed(cutText(dropped.trim(), MAX_DROPPED)) }),
      })),
    }),
  };
}

/** What a reply says before a result that it made up is whole, even if the rest was cut. */
function finishOf(finish: ModelReply["finish"], hasCalls: boolean, isEnded: boolean): ModelReply["finish"] {
  const ended = isEnded && finish === "length" ? "stop" : finish;
  return hasCalls && (ended === "stop" || ended === "other") ? "tool-calls" : ended;
}
