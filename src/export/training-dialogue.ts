// A record's dialogue in the form that formats write from and read into, with reasoning and loss flags as asked for.
import { findErrors, isObject, type JsonObject, parseJson, wellFormed, wellFormedJson } from "../core/index.ts";
import type { ExportRecord } from "./record.ts";

export type Call = { id: string; name: string; arguments: string };
export type AgentMessage = {
  role: "assistant";
  content: string;
  reasoning?: string;
  calls: Call[];
  /** whether a trainer learns from this message; undefined if not asked for */
  loss?: boolean;
};
export type DialogueMessage =
  | { role: "user"; content: string }
  | AgentMessage
  | { role: "tool"; content: string; callId: string; name: string };

export type TrainingDialogue = {
  system: string | undefined;
  tools: JsonObject[];
  messages: DialogueMessage[];
  /** a text held half a surrogate pair */
  isRepaired?: boolean;
};

export const REASONING_MODES = ["keep", "drop", "last", "inline"] as const;
export type ReasoningMode = (typeof REASONING_MODES)[number];
export const LOSS_MODES = ["agent", "well-formed", "until-error"] as const;
export type LossMode = (typeof LOSS_MODES)[number];

export type Shape = {
  /** which messages keep their reasoning, and whether it goes into the text */
  reasoning: "all" | "last" | "none";
  inline: boolean;
  loss: LossMode | undefined;
};

const THINK = { open: "<think>\n", close: "\n</think>\n\n" };
export const INLINE_CLASH = "reasoning cannot stand in the text: its tags are already there";

/** The dialogue, or why it cannot have this shape. Lone surrogates, which no loader takes, become U+FFFD. */
export function toDialogue(record: ExportRecord, shape: Shape): TrainingDialogue | string {
  const lastTurn = record.messages.findLastIndex(
    (message, index) => message.role === "user" && record.messages[index + 1]?.role === "assistant",
  );
  const flags = shape.loss ? lossFlags(record, shape.loss) : undefined;
  const names = new Map<string, string>();
  let isRepaired = false;
  const keep = (text: string, whole: string) => {
    isRepaired ||= whole !== text;
    return whole;
  };
  const repair = (text: string) => keep(text, wellFormed(text));
  const messages: DialogueMessage[] = [];
  for (const [index, message] of record.messages.entries()) {
    const content = repair(message.content);
    if (message.role === "user") messages.push({ role: "user", content });
    else if (message.role === "tool") {
      messages.push({
        role: "tool",
        content,
        callId: message.tool_call_id,
        name: names.get(message.tool_call_id) ?? "",
      });
    } else {
      const calls = (message.tool_calls ?? []).map((call) => ({
        id: call.id,
        name: repair(call.function.name),
        arguments: keep(call.function.arguments, wellFormedJson(wellFormed(call.function.arguments))),
      }));
      for (const call of calls) names.set(call.id, call.name);
      const kept = shape.reasoning === "all" || (shape.reasoning === "last" && index > lastTurn);
      const reasoning = kept && message.reasoning_content ? repair(message.reasoning_content) : undefined;
      if (shape.inline && (reasoning?.includes("</think>") || content.trimStart().startsWith("<think>")))
        return INLINE_CLASH;
      messages.push({
        role: "assistant",
        content,
        reasoning,
        calls,
        // what the query began with, calls and all, is nobody's output
        loss: index < (record.metadata.opening_messages ?? 0) ? false : flags?.[index],
      });
    }
  }
  return { system: record.system && repair(record.system), tools: record.tools ?? [], messages, isRepaired };
}

/** Reasoning before the text, in the tags that open models use for thinking. */
export function withThinking({ reasoning }: AgentMessage, content: string): string {
  return reasoning ? `${THINK.open}${reasoning}${THINK.close}${content}` : content;
}

export function splitThinking(content: string): { content: string; reasoning?: string } {
  if (!content.startsWith(THINK.open)) return { content };
  const end = content.indexOf(THINK.close, THINK.open.length);
  if (end === -1) return { content };
  return { reasoning: content.slice(THINK.open.length, end), content: content.slice(end + THINK.close.length) };
}

/** The arguments as a JSON object, or undefined; empty text means no arguments. */
export function parseArguments(text: string): JsonObject | undefined {
  const value = text.trim() === "" ? {} : parseJson(text);
  return isObject(value) ? (value as JsonObject) : undefined;
}

const AGENT_FAULTS = new Set(["malformed_arguments", "unknown_tool", "invalid_arguments"]);

function lossFlags(record: ExportRecord, mode: LossMode): boolean[] {
  const { messages, metadata } = record;
  const faulty = new Set((metadata.faults ?? []).filter(({ type }) => AGENT_FAULTS.has(type)).map((f) => f.call_id));
  const failed = findErrors(record);
  let hadError = false;
  return messages.map((message) => {
    if (message.role !== "assistant") return false;
    const calls = message.tool_calls ?? [];
    const isMalformed = calls.some((call) => parseArguments(call.function.arguments) === undefined);
    if (mode === "well-formed") return !isMalformed;
    if (mode === "until-error") hadError ||= isMalformed || calls.some(({ id }) => faulty.has(id) || failed.has(id));
    return !hadError;
  });
}
