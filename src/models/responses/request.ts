// A request as OpenAI's Responses API expects it: the dialogue as a list of items. Nothing is stored at the provider, so
// its reasoning comes encrypted and goes back as it came.
import {
  type ChatMessage,
  isObject,
  type JsonObject,
  type ModelRequest,
  remember,
  type ToolSpec,
  toFunctionTools,
  wellFormedJson,
  writeExact,
} from "../../core/index.ts";
import { mergeBodies } from "../merge-bodies.ts";
import { type Body, createMessageWriter } from "../message-bytes.ts";
import { validArguments, validName } from "../openai/request.ts";
import type { CallSettings, ResolvedModel } from "../resolved.ts";

export function createItemsWriter(model: ResolvedModel, parameters: JsonObject): (request: ModelRequest) => Body {
  const { tool_choice: choice, ...others } = parameters;
  const toolChoice = choice ? `,"tool_choice":${JSON.stringify(choice)}` : "";
  const head = wellFormedJson(JSON.stringify(others)).slice(0, -1);
  const writeItems = createMessageWriter((message) =>
    toItems(message, model)
      .map((item) => wellFormedJson(writeExact(item)))
      .join(","),
  );
  return (request) => {
    const { system, tools } = request;
    const instructions = system === "" ? "" : `,"instructions":${wellFormedJson(JSON.stringify(system))}`;
    const choice = request.toolChoice === "none" ? ',"tool_choice":"none"' : toolChoice;
    const offered = tools.length > 0 ? [',"tools":', toolsBytes(tools), choice] : [];
    return writeItems(request.messages, {
      before: [head, instructions, ',"input":['],
      after: ["]", ...offered, "}"],
    });
  };
}

/** The same for every call of a client. What registry and config add is merged last, one level deep. */
export function responseParameters(model: ResolvedModel, settings: CallSettings): JsonObject {
  const { reasoning } = model;
  const { type, effort, ...others } = settings.thinkingOptions ?? {};
  const on = settings.thinking ?? (settings.thinkingOptions && type !== "disabled");
  const parameters: JsonObject = { model: model.model, store: false };
  if (settings.maxTokens !== undefined) parameters.max_output_tokens = settings.maxTokens;
  if (settings.temperature !== undefined) parameters.temperature = settings.temperature;
  if (settings.topP !== undefined) parameters.top_p = settings.topP;
  if (reasoning.style !== "none") {
    parameters.include = ["reasoning.encrypted_content"];
    if (on !== undefined) parameters.reasoning = { effort: effort ?? (on ? "medium" : "low"), ...others };
  }
  const merged = mergeBodies(parameters, model.body, settings.extraParams ?? {});
  for (const name of ["input", "instructions", "tools", "stream", "previous_response_id"]) delete merged[name];
  return merged;
}

const toolsBytes = remember((tools: ToolSpec[]) => Buffer.from(wellFormedJson(writeExact(flatTools(tools)))));

/** Here a function's members are the tool's own; without `strict: false` the API would rewrite schemas. */
function flatTools(tools: ToolSpec[]): JsonObject[] {
  return toFunctionTools(tools).map((tool) => ({
    type: "function",
    strict: false,
    ...(tool.function as JsonObject),
  }));
}

function toItems(message: ChatMessage, model: ResolvedModel): JsonObject[] {
  if (message.role === "user") return [{ role: "user", content: message.content }];
  if (message.role === "tool")
    return [{ type: "function_call_output", call_id: message.callId, output: message.content }];
  const calls = (message.toolCalls ?? []).map((call) => ({
    type: "function_call",
    call_id: call.id,
    name: validName(call.name),
    arguments: validArguments(call.arguments),
  }));
  const said = message.content === "" ? [] : [spokenItem(message.content)];
  return [...(model.reasoning.sendBack ? keptItems(message) : []), ...said, ...calls];
}

/** In full: llama.cpp refuses an assistant's item without a type, vLLM takes its short form for a reply of its own. */
function spokenItem(text: string): JsonObject {
  return { type: "message", role: "assistant", content: [{ type: "output_text", text }] };
}

/** Reasoning items come before what they led to. */
function keptItems({ opaque }: Extract<ChatMessage, { role: "assistant" }>): JsonObject[] {
  const items = isObject(opaque) && Array.isArray(opaque.reasoning_items) ? opaque.reasoning_items : [];
  return items.filter(isObject) as JsonObject[];
}
