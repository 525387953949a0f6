// Rows with messages: OpenAI's `messages`, or `conversations` of `from` and `value`, with calls in fields, in messages
// of their own, or written as "Action:" and "Action Input:".
import { isObject, type Json, type JsonObject, parseExact } from "../../core/index.ts";
import type { DialogueEvent, MadeCall, RecordedDialogue } from "./dialogue.ts";
import { listIn, parseLoose, readTools, toolsInText } from "./read-tools.ts";

type Spoken = { role: Role; text: string; calls: (MadeCall & { id?: string })[]; callId?: string };
type Role = "system" | "user" | "agent" | "tool";

const ROLES: { [written: string]: Role | undefined } = {
  system: "system",
  user: "user",
  human: "user",
  assistant: "agent",
  gpt: "agent",
  model: "agent",
  function_call: "agent",
  tool_call: "agent",
  tool: "tool",
  function: "tool",
  observation: "tool",
  function_response: "tool",
  tool_response: "tool",
};

export function readMessages(row: JsonObject): RecordedDialogue | undefined {
  const list = row.messages ?? row.conversations ?? row.conversation;
  if (!Array.isArray(list)) return undefined;
  const spoken = list.flatMap((message) => (isObject(message) ? toSpoken(message as JsonObject) : []));
  const system = [row.system, ...spoken.filter(({ role }) => role === "system").map(({ text }) => text)];
  const texts = system.filter((text): text is string => typeof text === "string" && text !== "");
  const listed = readTools(row.tools ?? row.functions ?? row.function ?? row.api_list);
  const tools = listed.length > 0 ? listed : texts.flatMap(toolsInText);
  return { tools: tools.filter(({ name }) => name !== FINISH), events: toEvents(spoken), hasSystem: texts.length > 0 };
}

function toSpoken(message: JsonObject): Spoken[] {
  const written = String(message.role ?? message.from ?? "").toLowerCase();
  const role = ROLES[written];
  if (!role) return [];
  const value = message.content ?? message.value ?? "";
  const text = typeof value === "string" ? value : JSON.stringify(value);
  const callId = typeof message.tool_call_id === "string" ? message.tool_call_id : undefined;
  if (role !== "agent") return [{ role, text, calls: [], ...(callId !== undefined && { callId }) }];
  const fields = listIn(message.tool_calls).concat(listIn(message.function_call)).flatMap(toCall);
  if (fields.length > 0) return [{ role, text, calls: fields }];
  if (/call$/.test(written)) return [{ role, text: "", calls: listIn(parseLoose(text)).flatMap(toCall) }];
  return [fromActions(text) ?? fromTags(text) ?? { role, text, calls: [] }];
}

function toCall(value: Json): Spoken["calls"] {
  if (!isObject(value)) return [];
  const { function: inner, id } = value as JsonObject;
  const { name, arguments: args, parameters } = (isObject(inner) ? inner : value) as JsonObject;
  if (typeof name !== "string") return [];
  const given = args ?? parameters ?? {};
  const object = typeof given === "string" ? parseLoose(given) : given;
  const call = { name, arguments: (isObject(object) ? object : {}) as JsonObject, content: undefined };
  return [{ ...call, ...(typeof id === "string" && { id }) }];
}

/** `Finish` is how that form ends a dialogue, and no tool. */
function fromActions(text: string): Spoken | undefined {
  const [, name, input] = /Action:\s*(\S+)\s*\n\s*Action Input:\s*([\s\S]*)$/.exec(text) ?? [];
  if (name === undefined) return undefined;
  const parsed = parseLoose((input ?? "").trim());
  const args = (isObject(parsed) ? parsed : {}) as JsonObject;
  if (name === FINISH) return { role: "agent", text: String(args.final_answer ?? ""), calls: [] };
  return { role: "agent", text: "", calls: [{ name, arguments: args, content: undefined }] };
}

const FINISH = "Finish";

function fromTags(text: string): Spoken | undefined {
  const tagged = [...text.matchAll(/<tool_call>\s*([\s\S]*?)\s*<\/tool_call>/g)];
  const calls = tagged.flatMap(([, json = ""]) => listIn(parseExact(json)).flatMap(toCall));
  if (calls.length === 0) return undefined;
  return { role: "agent", text: text.slice(0, tagged[0]?.index).trim(), calls };
}

/** Answers go to their calls: by id, else in order. */
function toEvents(spoken: Spoken[]): DialogueEvent[] {
  const events: DialogueEvent[] = [];
  let open: Spoken["calls"] = [];
  for (const { role, text, calls, callId } of spoken) {
    if (role === "user") events.push({ user: text });
    if (role === "agent") {
      events.push({ say: text, calls });
      open = [...open, ...calls];
    }
    if (role !== "tool") continue;
    const answered = open.find(({ id }) => callId !== undefined && id === callId) ?? open[0];
    if (answered) answered.content = text;
    open = open.filter((call) => call !== answered);
  }
  return events;
}
