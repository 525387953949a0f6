// A dialogue as a model without function calling sees and says it: tools in the system prompt, calls in the agent's own
// words, results as user messages, which nobody learns. What is learnt stays the agent's messages.
import { type ChatMessage, isObject, type JsonObject, remember, type ToolSpec } from "../core/index.ts";
import { type TextFormatName, toTextDialogue } from "../models/index.ts";
import type { AgentMessage, DialogueMessage, TrainingDialogue } from "./training-dialogue.ts";

export type InText = { dialogue: TrainingDialogue; context: number | undefined };

/** `context`: how many messages come before what is learnt; several results are one message here. */
export function inText(dialogue: TrainingDialogue, name: TextFormatName, context?: number): InText {
  const { system, tools, messages } = dialogue;
  const specs = specsOf(tools);
  const write = (part: readonly DialogueMessage[]) =>
    toTextDialogue(name, {
      system: system ?? "",
      tools: specs,
      messages: part.map(toChat),
    });
  const text = write(messages);
  const agents = messages.filter((message) => message.role === "assistant").values();
  return {
    dialogue: {
      ...dialogue,
      system: text.system === "" ? system : text.system,
      tools: [],
      messages: text.messages.map((message): DialogueMessage => {
        if (message.role !== "assistant") return { role: "user", content: message.content };
        const { loss, reasoning } = agents.next().value as AgentMessage;
        return {
          role: "assistant",
          content: message.content,
          calls: [],
          loss,
          reasoning: text.hasThoughts ? undefined : reasoning,
        };
      }),
    },
    context: context === undefined ? undefined : write(messages.slice(0, context)).messages.length,
  };
}

/** One reply, for pairs. */
export function replyInText(reply: AgentMessage, tools: JsonObject[], name: TextFormatName): AgentMessage {
  return inText({ system: undefined, tools, messages: [reply] }, name).dialogue.messages[0] as AgentMessage;
}

function toChat(message: DialogueMessage): ChatMessage {
  if (message.role === "user") return message;
  if (message.role === "tool") return { ...message, isError: false };
  const { content, calls, reasoning } = message;
  return { role: "assistant", content, toolCalls: calls, reasoning };
}

const specsOf = remember((tools: JsonObject[]): ToolSpec[] =>
  tools.map((tool) => {
    const { name, description, parameters, ...others } = (isObject(tool.function) ? tool.function : tool) as JsonObject;
    return {
      name: String(name),
      description: String(description ?? ""),
      parameters: (isObject(parameters) ? parameters : {}) as JsonObject,
      readOnly: false,
      others,
    };
  }),
);
