// What is wrong in a dialogue, no matter who wrote it. A model's mistake whose tool result is an error is a warning:
// the dialogue shows it and continues; so is one that the row ends with. A mistake that went unnoticed is an error.
import { isErrorText, isObject, type JsonObject } from "../core/index.ts";
import { readUserText } from "../dialogue/index.ts";
import { checkArguments } from "../tools/index.ts";
import { type AgentMessage, type Call, parseArguments, type TrainingDialogue } from "./training-dialogue.ts";

export type Problem = { level: "error" | "warning"; message: string };

export function checkDialogue(dialogue: TrainingDialogue): Problem[] {
  const problems: Problem[] = [];
  const add = (index: number, message: string, level: Problem["level"] = "error") =>
    problems.push({ level, message: `message ${index + 1}: ${message}` });
  const { messages } = dialogue;
  if (messages.length === 0) return [{ level: "error", message: "there are no messages" }];
  const check = createCallChecker(dialogue.tools);
  let waiting: Call[] = [];
  for (const [index, message] of messages.entries()) {
    const before = messages[index - 1];
    if (message.role === "tool") {
      const call = waiting.find(({ id }) => id === message.callId);
      waiting = waiting.filter((other) => other !== call);
      if (!call) add(index, "a tool result without its call");
      continue;
    }
    for (const call of waiting) add(index, `the call of ${call.name} before it has no result`);
    waiting = [];
    if (message.role === "user") {
      if (before?.role === "user") add(index, "a user message follows a user message");
      if (before?.role === "tool") add(index, "a user message follows a tool result");
      if (message.content.trim() === "") add(index, "a user message is empty");
      if (readUserText(message.content).end) add(index, "an end token is left in the text");
    } else {
      if (before?.role === "assistant") add(index, "an agent message follows an agent message");
      if (isEmpty(message)) add(index, "an agent message has neither text nor calls");
      if (readUserText(message.content).end) add(index, "an end token is left in the text");
      waiting = message.calls;
      for (const call of message.calls) {
        const fault = check(call);
        const result = messages.slice(index + 1).find((other) => other.role === "tool" && other.callId === call.id);
        const isOpen = index === messages.length - 1;
        if (fault) add(index, fault, isOpen || (result && isErrorText(result.content)) ? "warning" : "error");
      }
    }
  }
  // calls at the very end are what is learnt: nobody has answered them yet
  if (messages.at(-1)?.role === "tool" && waiting.length > 0)
    add(messages.length - 1, "a call before it has no result");
  if (!messages.some(({ role }) => role === "assistant"))
    problems.push({ level: "error", message: "the agent says nothing" });
  return problems;
}

function isEmpty({ content, calls }: AgentMessage): boolean {
  return content.trim() === "" && calls.length === 0;
}

/** Without tools in the row, calls can only be checked for valid JSON. */
function createCallChecker(tools: JsonObject[]): (call: Call) => string | undefined {
  const schemas = new Map(tools.map((tool) => [String(functionOf(tool).name), functionOf(tool)]));
  return (call) => {
    if (!parseArguments(call.arguments)) return `the arguments of ${call.name} are not a JSON object`;
    if (schemas.size === 0) return undefined;
    const tool = schemas.get(call.name);
    if (!tool) return `the tool ${call.name} is not in the list`;
    const parameters = (isObject(tool.parameters) ? tool.parameters : { type: "object" }) as JsonObject;
    const checked = checkArguments({ name: call.name, description: "", parameters, readOnly: true }, call.arguments);
    if (checked.ok) return undefined;
    return (JSON.parse(checked.result.content) as { error: string }).error.replace(/ Expected: .*$/s, "");
  };
}

function functionOf(tool: JsonObject): JsonObject {
  return isObject(tool.function) ? (tool.function as JsonObject) : tool;
}
