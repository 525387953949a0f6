// A request as OpenAI-compatible servers expect it: tool lists and system prompts repeat in every call of a run, messages
// in every later call of a dialogue, and each is turned into JSON once. What goes back as history is valid, no matter what
// a model wrote.
import {
  type ChatMessage,
  isObject,
  type Json,
  type JsonObject,
  type ModelRequest,
  parseJson,
  remember,
  type ToolCall,
  type ToolSpec,
  toFunctionTools,
  wellFormedJson,
  writeExact,
} from "../../core/index.ts";
import { type Body, createMessageWriter } from "../message-bytes.ts";
import type { CallSettings, ResolvedModel } from "../resolved.ts";
import { requestParameters } from "./parameters.ts";

export function createBodyWriter(model: ResolvedModel, settings: CallSettings): (request: ModelRequest) => Body {
  const parameters = requestParameters(model, settings);
  const toolChoice = parameters.tool_choice ? `,"tool_choice":${JSON.stringify(parameters.tool_choice)}` : "";
  const sendsSeed = settings.sendSeed && parameters.seed === undefined;
  const hasStop = parameters.stop !== undefined;
  delete parameters.tool_choice;
  const head = `${wellFormedJson(JSON.stringify(parameters)).slice(0, -1)},"messages":[`;
  const startWith = rememberBytes((system) => {
    return system === "" ? head : `${head}${wellFormedJson(JSON.stringify({ role: "system", content: system }))}`;
  });
  const writeMessages = createMessageWriter((message) => wellFormedJson(JSON.stringify(toWire(message, model))));
  return (request) => {
    const { system, messages, tools, stop } = request;
    const before = [startWith(system), system !== "" && messages.length > 0 ? "," : ""];
    // the tools stay listed: history names them, and the server's prefix cache stays warm
    const choice = request.toolChoice === "none" ? ',"tool_choice":"none"' : toolChoice;
    const offered = tools.length > 0 ? [',"tools":', toolsBytes(tools), choice] : [];
    const limit = stop && !hasStop ? `,"stop":${wellFormedJson(JSON.stringify(stop))}` : "";
    const seed = sendsSeed ? `,"seed":${request.origin.seed}` : "";
    return writeMessages(messages, { before, after: ["]", ...offered, `${limit}${seed}}`] });
  };
}

function toWire(message: ChatMessage, model: ResolvedModel): JsonObject {
  if (message.role === "user") return { role: "user", content: message.content };
  if (message.role === "tool") return { role: "tool", tool_call_id: message.callId, content: message.content };
  // empty text rather than null: chat templates write null as "None"
  const wire: JsonObject = { role: "assistant", content: message.content };
  const opaque = isObject(message.opaque) ? message.opaque : {};
  const { sendBack, field } = model.reasoning;
  if (message.reasoning !== undefined && sendBack) wire[field] = message.reasoning;
  // if reasoning is required on every reply that called tools, a reply without any sends an empty text
  else if (sendBack === "all" && message.toolCalls?.length) wire[field] = "";
  if (opaque.reasoning_details !== undefined) wire.reasoning_details = opaque.reasoning_details;
  if (message.toolCalls?.length) {
    const extras = Array.isArray(opaque.extra_content) ? opaque.extra_content : [];
    wire.tool_calls = message.toolCalls.map((call, index) => callToWire(call, extras[index]));
  }
  return wire;
}

function callToWire(call: ToolCall, extra: Json | undefined): JsonObject {
  const wire: JsonObject = {
    id: call.id,
    type: "function",
    function: { name: validName(call.name), arguments: validArguments(call.arguments) },
  };
  if (extra !== undefined && extra !== null) wire.extra_content = extra;
  return wire;
}

/** Several servers refuse history with arguments that are not a JSON object, on every later turn. */
export function validArguments(text: string): string {
  if (text.trim() === "") return "{}";
  return isObject(parseJson(text)) ? text : JSON.stringify({ _raw: text });
}

/** Some also refuse history with an invalid tool name. */
export function validName(name: string): string {
  return /^[\w.:-]{1,128}$/.test(name) ? name : name.replace(/[^\w.:-]+/g, "_").slice(0, 64) || "unnamed";
}

const toolsBytes = remember((tools: ToolSpec[]) => Buffer.from(wellFormedJson(writeExact(toFunctionTools(tools)))));

const MAX_REMEMBERED = 256;

/** A run has few system prompts for its agents and one per query for its users: the latest are kept. */
function rememberBytes(write: (text: string) => string): (text: string) => Buffer {
  const known = new Map<string, Buffer>();
  return (text) => {
    let bytes = known.get(text);
    if (bytes === undefined) {
      bytes = Buffer.from(write(text));
      if (known.size >= MAX_REMEMBERED) known.delete(known.keys().next().value as string);
      known.set(text, bytes);
    }
    return bytes;
  };
}
