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
import {
  type ColumnType,
  CUT_TAIL,
  endWithAgent,
  type FormatOptions,
  listOf,
  MALFORMED,
  type Reading,
  structureProblem,
  textOf,
} from "./format.ts";

export type ChatStyle = {
  /** ids tie results to calls; without them results carry the tool's name and are in call order */
  ids: boolean;
  arguments: "object" | "string" | "raw";
  lossField?: string;
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
      rows.push(style.ids ? { role: "tool", content, tool_call_id: callId } : { role: "tool", name, content });
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
  if (style.lossField && message.loss !== undefined)
    row[style.lossField] = style.lossValue ? style.lossValue(message.loss) : message.loss;
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

/** A whole dialogue that ends with the agent, or why it cannot be written. */
export function writeEndedChat(dialogue: TrainingDialogue, style: ChatStyle, options: FormatOptions) {
  const { messages, cut } = endWithAgent(dialogue.messages);
  const reason = structureProblem(messages);
  if (reason) return { reason };
  const rows = chatMessages({ ...dialogue, messages }, style, options);
  return rows ? { messages: rows, notes: cut ? [CUT_TAIL] : undefined } : malformed;
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

export const CALLS: ColumnType = {
  list: { fields: { id: "string", type: "string", function: { fields: { name: "string", arguments: "string" } } } },
};

/** Messages as Parquet stores them: one type per member, arguments as text. */
export function chatColumn(more: { [member: string]: ColumnType } = {}): ColumnType {
  return {
    list: {
      fields: {
        role: "string",
        content: "string",
        reasoning_content: "string",
        tool_calls: CALLS,
        tool_call_id: "string",
        name: "string",
        ...more,
      },
    },
  };
}
