// LLaMA-Factory, `formatting: sharegpt`: human and observation on one side, gpt and function_call on the other.
import { isObject, type JsonObject, parseJson } from "../../core/index.ts";
import type { DatasetRow } from "../row-text.ts";
import {
  type AgentMessage,
  type Call,
  type DialogueMessage,
  splitThinking,
  type TrainingDialogue,
  withThinking,
} from "../training-dialogue.ts";
import type { Unroll } from "../unroll.ts";
import { alternate, callsText, RESULT_SEPARATOR } from "./alternating.ts";
import { readToolList, toolsColumn } from "./chat.ts";
import { type ColumnType, type Format, listOf, type PairMode, textOf } from "./format.ts";

const TURN: ColumnType = { fields: { from: "string", value: "string" } };
const REST: { [name: string]: ColumnType } = { system: "string", tools: "string" };

/** Its `mask_history` learns one message, the last. */
export const ONLY_LAST = "it can learn from all of a dialogue or from its last message: --unroll dialogue or step";

export function adviseMask(unroll: Unroll, pairs?: PairMode): string | undefined {
  if (pairs)
    return "LLaMA-Factory: set preserve_thinking: true, so that earlier replies of the turn keep their reasoning";
  return unroll === "step"
    ? "LLaMA-Factory: set mask_history: true and preserve_thinking: true, so that the last message is learnt in the context it had"
    : undefined;
}

export const llamafactory: Format = {
  name: "llamafactory",
  container: "jsonl",
  columns: { conversations: { list: TURN }, ...REST },
  required: [["conversations"]],
  reasoning: { default: "inline", field: false },
  refuses: { turn: ONLY_LAST },
  advice: adviseMask,
  write(dialogue) {
    const sides = alternate(dialogue.messages);
    if ("reason" in sides) return sides;
    return { ...sides, row: { conversations: turnsOf(sides.messages), ...labels(dialogue) } };
  },
  read: (row) => readTurns(listOf(row.conversations), row),
  pairs: {
    preference: {
      columns: { conversations: { list: TURN }, chosen: TURN, rejected: TURN, ...REST },
      write({ prompt, chosen, rejected }) {
        const [better, worse] = [chosen, rejected].map((reply) => alternate([...prompt.messages, reply]));
        if (!better || !worse || "reason" in better) return better as { reason: string };
        if ("reason" in worse) return worse;
        const turns = turnsOf(better.messages);
        return {
          row: {
            conversations: turns.slice(0, -1),
            chosen: turns.at(-1),
            rejected: turnsOf(worse.messages).at(-1),
            ...labels(prompt),
          },
          notes: [...new Set([...better.notes, ...worse.notes])],
        };
      },
    },
    kto: {
      columns: { conversations: { list: TURN }, kto_tag: "boolean", ...REST },
      write({ prompt, completion, label }) {
        const sides = alternate([...prompt.messages, completion]);
        if ("reason" in sides) return sides;
        return {
          row: { conversations: turnsOf(sides.messages), kto_tag: label, ...labels(prompt) },
          notes: sides.notes,
        };
      },
    },
  },
  info: (pairs) => ({
    formatting: "sharegpt",
    ...(pairs === "preference" && { ranking: true }),
    columns: {
      messages: "conversations",
      system: "system",
      tools: "tools",
      ...(pairs === "preference" && { chosen: "chosen", rejected: "rejected" }),
      ...(pairs === "kto" && { kto_tag: "kto_tag" }),
    },
  }),
};

function labels({ system, tools }: TrainingDialogue): DatasetRow {
  return { system: system ?? "", tools: tools.length > 0 ? toolsColumn(tools, "text") : "" };
}

function turnsOf(messages: DialogueMessage[]): DatasetRow[] {
  const turns: { from: string; value: string }[] = [];
  for (const message of messages) {
    const before = turns.at(-1);
    if (message.role === "user") turns.push({ from: "human", value: message.content });
    else if (message.role === "assistant") {
      const from = message.calls.length > 0 ? "function_call" : "gpt";
      const value = message.calls.length > 0 ? callsText(message.calls) : message.content;
      turns.push({ from, value: withThinking(message, value) });
    } else if (before?.from === "observation") before.value += RESULT_SEPARATOR + message.content;
    else turns.push({ from: "observation", value: message.content });
  }
  return turns;
}

function readTurns(turns: JsonObject[], row: JsonObject) {
  const problems: string[] = [];
  const messages: DialogueMessage[] = [];
  const system = turns[0]?.from === "system" ? textOf(turns[0].value) : textOf(row.system);
  const rest = turns[0]?.from === "system" ? turns.slice(1) : turns;
  let calls: Call[] = [];
  for (const [index, { from, value }] of rest.entries()) {
    const expected = index % 2 === 0 ? ["human", "observation"] : ["gpt", "function_call"];
    if (!expected.includes(textOf(from)))
      problems.push(`turn ${index + 1} is ${JSON.stringify(from)} where the loader wants ${expected.join(" or ")}`);
    if (from === "human") messages.push({ role: "user", content: textOf(value) });
    else if (from === "observation") {
      const results = calls.length > 1 ? textOf(value).split(RESULT_SEPARATOR) : [textOf(value)];
      for (const [number, content] of results.entries())
        messages.push({ role: "tool", content, callId: calls[number]?.id ?? "", name: calls[number]?.name ?? "" });
    } else {
      const message = readAgentTurn(textOf(value), index, from === "function_call", problems);
      calls = message.calls;
      messages.push(message);
    }
  }
  if (rest.length % 2 !== 0) problems.push("the number of turns is odd");
  const dialogue = { system: system === "" ? undefined : system, tools: readToolList(row.tools, problems), messages };
  return { dialogue, problems };
}

function readAgentTurn(value: string, index: number, isCall: boolean, problems: string[]): AgentMessage {
  const { content, ...thought } = splitThinking(value);
  if (!isCall) return { role: "assistant", content, ...thought, calls: [] };
  const parsed = parseJson(content);
  const calls = [parsed ?? []].flat().flatMap((call, number): Call[] => {
    if (!isObject(call) || typeof call.name !== "string") return [];
    return [{ id: `${index}.${number}`, name: call.name, arguments: JSON.stringify(call.arguments ?? {}) }];
  });
  if (calls.length === 0) problems.push(`turn ${index + 1}: function_call is not the JSON of a call`);
  return { role: "assistant", content: "", ...thought, calls };
}
