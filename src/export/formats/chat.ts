// The messages that most targets share: roles, `tool_calls`, tool results. Formats differ in a few members.
import { isObject, type JsonObject, parseJson } from "../../core/index.ts";
import { type DatasetRow, type RawJson, rawArguments, shareText } from "../row-text.ts";
import {
  type AgentMessage,
  type Call,
  splitThinking,
  type TrainingDialogue,
  withThinking,
} from "../training-dialogue.ts";
import { type ColumnType, type FormatOptions, listOf, MALFORMED, type Reading, textOf } from "./format.ts";

export type ChatStyle = {
  /** ids tie results to calls */
  ids: boolean;
  /** results carry the tool's name */
  names?: boolean;
  arguments: "object" | "string" | "raw";
  /** an empty `reasoning_content` keeps templates from looking for reasoning in a text that holds `</think>` */
  guardsThink?: boolean;
  lossField?: string;
  /** what the flag is where nothing was asked for */
  lossDefault?: boolean;
  lossValue?: (loss: boolean) => unknown;
};

/** The messages, or undefined if a call's arguments cannot be written in this style. */
export function chatMessages(
  { system, messages }: Pick<TrainingDialogue, "system" | "messages">,
  style: ChatStyle,
  options: Pick<FormatOptions, "inline">,
): DatasetRow[] | undefined {
  const rows: DatasetRow[] = system === undefined ? [] : [{ role: "system", content: system }];
  for (const message of messages) {
    if (message.role === "user") rows.push({ role: "user", content: message.content });
    else if (message.role === "tool") {
      const { callId, name, content } = message;
      rows.push({
        role: "tool",
        ...(style.names && { name }),
        content,
        ...(style.ids && { tool_call_id: callId }),
      });
    } else {
      const row = agentMessage(message, style, options);
      if (!row) return undefined;
      rows.push(row);
    }
  }
  return rows;
}

function agentMessage(
  message: AgentMessage,
  style: ChatStyle,
  { inline }: { inline: boolean },
): DatasetRow | undefined {
  const row: DatasetRow = {
    role: "assistant",
    content: inline ? withThinking(message, message.content) : message.content,
  };
  if (message.reasoning && !inline) row.reasoning_content = message.reasoning;
  else if (style.guardsThink && message.content.includes("</think>")) row.reasoning_content = "";
  if (message.calls.length > 0) {
    const calls: DatasetRow[] = [];
    for (const call of message.calls) {
      const given = callArguments(call, style.arguments);
      if (given === undefined) return undefined;
      const named = { type: "function", function: { name: call.name, arguments: given } };
      calls.push(style.ids ? { id: call.id, ...named } : named);
    }
    row.tool_calls = calls;
  }
  const loss = message.loss ?? style.lossDefault;
  if (style.lossField && loss !== undefined) row[style.lossField] = style.lossValue ? style.lossValue(loss) : loss;
  return row;
}

function callArguments(call: Call, kind: ChatStyle["arguments"]): string | RawJson | undefined {
  if (kind === "raw") return call.arguments;
  const raw = rawArguments(call.arguments);
  return raw && kind === "string" ? raw.text : raw;
}

export function toolsColumn(tools: JsonObject[], as: "list" | "text"): unknown {
  return as === "list" ? shareText(tools) : shareText(tools).text;
}

export const malformed = { reason: MALFORMED };

/** For loaders that hand rows to the template as they are; tools as text are parsed by all of them. */
export function plainChat(
  messages: unknown,
  tools: unknown,
): { messages: JsonObject[]; tools: JsonObject[] | undefined } {
  const list = typeof tools === "string" ? parseJson(tools) : tools;
  return { messages: listOf(messages), tools: Array.isArray(list) && list.length > 0 ? listOf(list) : undefined };
}

/** For loaders that parse arguments and parameters given as text. */
export function parsedChat(messages: unknown, tools: unknown): ReturnType<typeof plainChat> {
  const chat = plainChat(messages, tools);
  return {
    messages: chat.messages.map((message) =>
      Array.isArray(message.tool_calls)
        ? { ...message, tool_calls: listOf(message.tool_calls).map((call) => parsedIn(call, "arguments")) }
        : message,
    ),
    tools: chat.tools?.map((tool) => parsedIn(tool, "parameters")),
  };
}

function parsedIn(item: JsonObject, member: "arguments" | "parameters"): JsonObject {
  const named = item.function;
  if (!isObject(named) || typeof named[member] !== "string") return item;
  return { ...item, function: { ...named, [member]: parseJson(named[member]) ?? {} } as JsonObject };
}

/** `prompt` and `completion`, of which only the completion is learnt, or `messages`. */
export function readCompletion(row: JsonObject): Reading {
  if (row.prompt === undefined) return readChat(row.messages, row.tools);
  const reading = readChat([...listOf(row.prompt), ...listOf(row.completion)], row.tools);
  const context = listOf(row.prompt).filter(({ role }) => role !== "system" && role !== "developer").length;
  for (const [index, message] of reading.dialogue.messages.entries())
    if (message.role === "assistant") message.loss = index >= context;
  return reading;
}

/** Messages of any such style, ours or not, with what is wrong in their shape. */
export function readChat(rows: unknown, tools: unknown): Reading {
  const problems: string[] = [];
  const dialogue: TrainingDialogue = { system: undefined, tools: readToolList(tools, problems), messages: [] };
  if (!Array.isArray(rows)) return { dialogue, problems: ["there are no messages"] };
  let waiting: Call[] = [];
  for (const [index, row] of rows.entries()) {
    const problem = (text: string) => problems.push(`message ${index + 1}: ${text}`);
    if (!isObject(row)) {
      problem("is not an object");
    } else if (row.role === "system" || row.role === "developer") {
      if (index === 0) dialogue.system = textOf(row.content);
      else problem("a system message is not the first one");
    } else if (row.role === "user") {
      dialogue.messages.push({ role: "user", content: textOf(row.content) });
    } else if (row.role === "tool") {
      const byId = typeof row.tool_call_id === "string" ? row.tool_call_id : undefined;
      const call = byId === undefined ? waiting[0] : waiting.find(({ id }) => id === byId);
      waiting = waiting.filter((other) => other !== call);
      dialogue.messages.push({
        role: "tool",
        content: textOf(row.content),
        callId: byId ?? call?.id ?? "",
        name: call?.name ?? textOf(row.name),
      });
    } else if (row.role === "assistant") {
      const message = readAgent(row, dialogue.messages.length, problem);
      waiting = [...message.calls];
      dialogue.messages.push(message);
    } else problem(`the role ${JSON.stringify(row.role)} is not known`);
  }
  return { dialogue, problems };
}

function readAgent(row: Record<string, unknown>, index: number, problem: (text: string) => void): AgentMessage {
  const { content, reasoning = textOf(row.reasoning_content) || textOf(row.thinking) } = splitThinking(
    textOf(row.content),
  );
  if (Array.isArray(row.tool_calls) && row.tool_calls.length === 0) problem("tool_calls is empty: leave the key out");
  const calls = listOf(row.tool_calls).map((call, number): Call => {
    const named = isObject(call.function) ? call.function : call;
    if (typeof named.name !== "string") problem(`call ${number + 1} has no name`);
    const given = named.arguments;
    return {
      id: typeof call.id === "string" ? call.id : `${index}.${number}`,
      name: textOf(named.name),
      arguments: typeof given === "string" ? given : JSON.stringify(given ?? {}),
    };
  });
  const loss = row.train ?? row.loss ?? (typeof row.weight === "number" ? row.weight > 0 : undefined);
  return {
    role: "assistant",
    content,
    reasoning: reasoning || undefined,
    calls,
    loss: typeof loss === "boolean" ? loss : undefined,
  };
}

export function readToolList(tools: unknown, problems: string[]): JsonObject[] {
  if (tools === undefined || tools === null || tools === "") return [];
  const value = typeof tools === "string" ? parseJson(tools) : tools;
  if (!Array.isArray(value)) {
    problems.push("tools is neither a list nor the JSON text of one");
    return [];
  }
  return listOf(value).map((tool) => {
    const named = isObject(tool.function) ? (tool.function as JsonObject) : tool;
    const parameters = typeof named.parameters === "string" ? parseJson(named.parameters) : named.parameters;
    return { type: "function", function: { ...named, ...(parameters === undefined ? {} : { parameters }) } };
  });
}

export const CALLS = callsColumn("string");

function callsColumn(given: ColumnType): ColumnType {
  return {
    list: { fields: { id: "string", type: "string", function: { fields: { name: "string", arguments: given } } } },
  };
}

/** Messages as Parquet stores them: one type per member; arguments as text, or as JSON that readers know to be JSON. */
export function chatColumn(
  more: { [member: string]: ColumnType } = {},
  given: "string" | "json" = "string",
): ColumnType {
  return {
    list: {
      fields: {
        role: "string",
        content: "string",
        reasoning_content: "string",
        tool_calls: given === "json" ? callsColumn("json") : CALLS,
        tool_call_id: "string",
        name: "string",
        ...more,
      },
    },
  };
}
