// ms-swift: calls and results are separate messages, `tool_call` and `tool_response`; `tools` is JSON text; `loss` says
// whether a message is trained on. Reasoning goes into the text: the loader drops other members of a message.
import { isObject, type JsonObject, parseJson } from "../../core/index.ts";
import { type DatasetRow, rawArguments } from "../row-text.ts";
import {
  type AgentMessage,
  type Call,
  type DialogueMessage,
  splitThinking,
  withThinking,
} from "../training-dialogue.ts";
import { mergeSides } from "./alternating.ts";
import { readToolList, toolsColumn } from "./chat.ts";
import {
  type ColumnType,
  type Format,
  inCallOrder,
  listOf,
  MALFORMED,
  MERGED,
  type Reading,
  textOf,
} from "./format.ts";

const MESSAGES: ColumnType = { list: { fields: { role: "string", content: "string", loss: "boolean" } } };
/** Without it, earlier replies of the same turn lose their reasoning when pairs are learnt. */
const THINKING = { chat_template_kwargs: { preserve_thinking: true } };
const KWARGS: { [name: string]: ColumnType } = {
  chat_template_kwargs: { fields: { preserve_thinking: "boolean" } },
};
const MEDIA = /<(image|video|audio)>/;

export const msSwift: Format = {
  name: "ms-swift",
  container: "jsonl",
  columns: { messages: MESSAGES, tools: "string" },
  reasoning: { default: "inline", field: false },
  lossField: "loss",
  write(dialogue) {
    const messages = rowsOf(dialogue.messages, dialogue.system);
    if ("reason" in messages) return messages;
    return { row: { messages: messages.rows, tools: toolsColumn(dialogue.tools, "text") }, notes: messages.notes };
  },
  read,
  pairs: {
    preference: {
      columns: { messages: MESSAGES, rejected_messages: MESSAGES, ...KWARGS, tools: "string" },
      write({ prompt, chosen, rejected }) {
        const better = rowsOf([...prompt.messages, chosen], prompt.system);
        const worse = rowsOf([...prompt.messages, rejected], prompt.system);
        if ("reason" in better) return better;
        if ("reason" in worse) return worse;
        const tools = toolsColumn(prompt.tools, "text");
        return {
          row: { messages: better.rows, rejected_messages: worse.rows, ...THINKING, tools },
          notes: better.notes,
        };
      },
    },
    kto: {
      columns: { messages: MESSAGES, label: "boolean", ...KWARGS, tools: "string" },
      write({ prompt, completion, label }) {
        const messages = rowsOf([...prompt.messages, completion], prompt.system);
        if ("reason" in messages) return messages;
        return {
          row: { messages: messages.rows, label, ...THINKING, tools: toolsColumn(prompt.tools, "text") },
          notes: messages.notes,
        };
      },
    },
  },
};

function rowsOf(
  given: DialogueMessage[],
  system?: string,
): { rows: DatasetRow[]; notes: string[] } | { reason: string } {
  const messages = mergeSides(inCallOrder(given));
  const rows: DatasetRow[] = system === undefined ? [] : [{ role: "system", content: system }];
  for (const message of messages) {
    if (MEDIA.test(message.content))
      return { reason: "<image>, <video> or <audio> in a text, which the loader takes for media" };
    if (message.role === "user") rows.push({ role: "user", content: message.content });
    else if (message.role === "tool") rows.push({ role: "tool_response", content: message.content });
    else {
      const added = agentRows(message);
      if (!added) return { reason: MALFORMED };
      rows.push(...added);
    }
  }
  return { rows, notes: messages.length < given.length ? [MERGED] : [] };
}

/** Text and calls of one reply are written one after the other; the loader joins them again. */
function agentRows(message: AgentMessage): DatasetRow[] | undefined {
  const loss = message.loss === undefined ? {} : { loss: message.loss };
  const content = withThinking(message, message.content);
  const rows: DatasetRow[] =
    content === "" && message.calls.length > 0 ? [] : [{ role: "assistant", content, ...loss }];
  for (const call of message.calls) {
    const given = rawArguments(call.arguments);
    if (!given) return undefined;
    rows.push({
      role: "tool_call",
      content: `{"name": ${JSON.stringify(call.name)}, "arguments": ${given.text}}`,
      ...loss,
    });
  }
  return rows;
}

function read(row: JsonObject): Reading {
  const problems: string[] = [];
  const messages: DialogueMessage[] = [];
  let system: string | undefined;
  let waiting: Call[] = [];
  for (const [index, { role, content, loss }] of listOf(row.messages).entries()) {
    const before = messages.at(-1);
    const flag = typeof loss === "boolean" ? { loss } : {};
    if (typeof content !== "string") problems.push(`message ${index + 1} has no text content`);
    if (role === "system" && index === 0) system = textOf(content);
    else if (role === "user") messages.push({ role: "user", content: textOf(content) });
    else if (role === "assistant") {
      waiting = [];
      messages.push({ role: "assistant", ...splitThinking(textOf(content)), calls: [], ...flag });
    } else if (role === "tool_call") {
      const call = readCall(textOf(content), index);
      if (!call) problems.push(`message ${index + 1}: tool_call is not the JSON of a call`);
      const calls = call ? [call] : [];
      if (before?.role === "assistant") before.calls.push(...calls);
      else messages.push({ role: "assistant", content: "", calls, ...flag });
      waiting = [...(messages.at(-1) as AgentMessage).calls];
    } else if (role === "tool_response" || role === "tool") {
      const call = waiting.shift();
      messages.push({ role: "tool", content: textOf(content), callId: call?.id ?? "", name: call?.name ?? "" });
    } else problems.push(`message ${index + 1}: the role ${JSON.stringify(role)} is not known`);
  }
  return { dialogue: { system, tools: readToolList(row.tools, problems), messages }, problems };
}

function readCall(content: string, index: number): Call | undefined {
  const call = parseJson(content);
  if (!isObject(call) || typeof call.name !== "string") return undefined;
  const given = call.arguments ?? {};
  const text = typeof given === "string" ? given : JSON.stringify(given);
  return { id: `${index}`, name: call.name, arguments: text };
}
