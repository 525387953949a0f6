// A chat completion request as it comes over the wire, read strictly: what a picky server refuses is refused here too, so
// that a rehearsal shows it.
import {
  type ChatMessage,
  isObject,
  type JsonObject,
  type ModelRequest,
  parseJson,
  type ToolCall,
  type ToolSpec,
} from "../../core/index.ts";

export type WireRequest = Pick<ModelRequest, "system" | "messages" | "tools" | "toolChoice"> & {
  model: string;
  seed: number | undefined;
  stream: boolean;
  includeUsage: boolean;
  /** characters of the whole request */
  size: number;
  /** how many of our damaged replies are in its history; they are left out of `messages` */
  damaged: number;
};

/** What the server answers instead of a reply. */
export class WireError extends Error {
  readonly status: number;
  readonly code: string;
  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

/** Ids of calls damaged on purpose end like this: their step is played again as if they had not happened. */
const DAMAGED = /_fault\d+$/;

export function readWireRequest(text: string): WireRequest {
  const body = parseJson(text);
  if (!isObject(body)) throw refusal("the body is no JSON object");
  if (typeof body.model !== "string") throw refusal("model must be a text");
  if (!Array.isArray(body.messages) || body.messages.length === 0) throw refusal("messages must be a list");
  const systems: string[] = [];
  const messages: ChatMessage[] = [];
  const open = new Map<string, string>();
  let damaged = 0;
  for (const [index, message] of body.messages.entries()) {
    if (!isObject(message)) throw refusal(`messages[${index}] must be an object`);
    const content = textOf(message.content);
    if (message.role !== "tool" && open.size > 0)
      throw refusal(`messages[${index}]: the calls ${[...open.keys()].join(", ")} have no answer`);
    if (message.role === "system" || message.role === "developer") systems.push(content);
    else if (message.role === "user") messages.push({ role: "user", content });
    else if (message.role === "assistant") {
      const toolCalls = readCalls(message.tool_calls, `messages[${index}]`);
      for (const call of toolCalls) open.set(call.id, call.name);
      if (toolCalls.some(({ id }) => DAMAGED.test(id))) damaged++;
      else messages.push({ role: "assistant", content, toolCalls: toolCalls.length > 0 ? toolCalls : undefined });
    } else if (message.role === "tool") {
      const callId = String(message.tool_call_id);
      const name = open.get(callId);
      if (name === undefined) throw refusal(`messages[${index}] answers no call (${callId})`);
      open.delete(callId);
      if (!DAMAGED.test(callId)) messages.push({ role: "tool", callId, name, content, isError: false });
    } else throw refusal(`messages[${index}] has the unknown role ${JSON.stringify(message.role)}`);
  }
  return {
    model: body.model,
    system: systems.join("\n\n"),
    messages,
    tools: readTools(body.tools),
    toolChoice: body.tool_choice === "none" ? "none" : "auto",
    seed: typeof body.seed === "number" ? body.seed : undefined,
    stream: body.stream === true,
    includeUsage: isObject(body.stream_options) && body.stream_options.include_usage === true,
    size: text.length,
    damaged,
  };
}

function readCalls(value: unknown, where: string): ToolCall[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw refusal(`${where}: tool_calls must be a list`);
  const ids = new Set<unknown>();
  return value.map((call: unknown) => {
    if (!isObject(call) || !isObject(call.function)) throw refusal(`${where}: a call needs a function`);
    const { name, arguments: text } = call.function;
    if (typeof call.id !== "string" || call.id === "" || ids.has(call.id))
      throw refusal(`${where}: every call needs an id of its own`);
    ids.add(call.id);
    if (typeof name !== "string" || name === "") throw refusal(`${where}: a call needs a name`);
    if (typeof text !== "string" || !isObject(parseJson(text)))
      throw refusal(`${where}: the arguments of ${name} are no JSON object`);
    return { id: call.id, name, arguments: text };
  });
}

function readTools(value: unknown): ToolSpec[] {
  const tools = Array.isArray(value) ? value : [];
  return tools.flatMap((tool) => {
    const spec = isObject(tool) && isObject(tool.function) ? tool.function : undefined;
    if (typeof spec?.name !== "string") return [];
    const parameters = (isObject(spec.parameters) ? spec.parameters : {}) as JsonObject;
    return [{ name: spec.name, description: String(spec.description ?? ""), parameters, readOnly: false }];
  });
}

/** A text, or a list of text parts. */
function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  const parts = Array.isArray(content) ? content.filter(isObject) : [];
  return parts.map((part) => (typeof part.text === "string" ? part.text : "")).join("");
}

function refusal(message: string): WireError {
  return new WireError(400, "invalid_request_error", message);
}
