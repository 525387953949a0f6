// The pieces of a row that a template should show: reasoning, texts and the names of called functions.
import { isObject, type JsonObject } from "../../core/index.ts";

/** One row as the trainer's loader hands it to the template: messages in order, system included. */
export type TemplateRow = {
  messages: JsonObject[];
  tools: JsonObject[] | string | undefined;
  /** for each message, whether it enters the loss; in a trained one reasoning, text and calls are all learnt */
  loss: boolean[];
  /** what the loader sets besides, such as `enable_thinking` */
  variables?: JsonObject;
};

type PartKind = "reasoning" | "text" | "name";
/** A piece of one message; what surrounds it, such as space that templates strip, is no part of it. */
export type Part = { kind: PartKind; message: number; call?: number; text: string };

type Wrap = (part: Part) => string;

const REASONING = ["reasoning_content", "thinking", "reasoning"];

export function listParts(messages: JsonObject[]): Part[] {
  const parts: Part[] = [];
  rewriteParts(messages, (part) => {
    parts.push(part);
    return part.text;
  });
  return parts;
}

/** The messages with every piece replaced by what `wrap` makes of it; pieces come in the same order every time. */
export function rewriteParts(messages: JsonObject[], wrap: Wrap): JsonObject[] {
  return messages.map((message, index) => {
    const copy: JsonObject = { ...message };
    for (const member of REASONING) {
      const text = message[member];
      if (typeof text === "string") copy[member] = rewrite(text, { kind: "reasoning", message: index }, wrap);
    }
    copy.content = rewriteContent(message, index, wrap);
    if (!("content" in message)) delete copy.content;
    if (Array.isArray(message.tool_calls))
      copy.tool_calls = message.tool_calls.map((call, number) => {
        if (!isObject(call)) return call;
        const named = calledFunction(call as JsonObject);
        if (typeof named.name !== "string") return call;
        const name = rewrite(named.name, { kind: "name", message: index, call: number }, wrap);
        return withFunction(call as JsonObject, { ...named, name });
      });
    return copy;
  });
}

/** A call's name and arguments stand in `function`, or in the call itself. */
export function calledFunction(call: JsonObject): JsonObject {
  return isObject(call.function) ? (call.function as JsonObject) : call;
}

export function withFunction(call: JsonObject, named: JsonObject): JsonObject {
  return isObject(call.function) ? { ...call, function: named } : named;
}

function rewriteContent(message: JsonObject, index: number, wrap: Wrap): JsonObject[string] {
  const { content, role } = message;
  const place = { kind: "text", message: index } as const;
  if (Array.isArray(content))
    return content.map((piece) =>
      isObject(piece) && typeof piece.text === "string" ? { ...piece, text: rewrite(piece.text, place, wrap) } : piece,
    ) as JsonObject[];
  if (typeof content !== "string") return content ?? null;
  const thinking = role === "assistant" ? splitInline(content) : undefined;
  if (!thinking) return rewrite(content, place, wrap);
  const { before, reasoning, after } = thinking;
  return (
    before + rewrite(reasoning, { kind: "reasoning", message: index }, wrap) + CLOSE_THINK + rewrite(after, place, wrap)
  );
}

const OPEN_THINK = "<think>";
const CLOSE_THINK = "</think>";

function splitInline(content: string): { before: string; reasoning: string; after: string } | undefined {
  const start = content.length - content.trimStart().length + OPEN_THINK.length;
  const end = content.indexOf(CLOSE_THINK);
  if (end < start || !content.trimStart().startsWith(OPEN_THINK)) return undefined;
  return {
    before: content.slice(0, start),
    reasoning: content.slice(start, end),
    after: content.slice(end + CLOSE_THINK.length),
  };
}

/** Templates strip texts, so space at the edges is left alone. */
function rewrite(text: string, place: Omit<Part, "text">, wrap: Wrap): string {
  const start = text.length - text.trimStart().length;
  const end = text.trimEnd().length;
  if (start >= end) return text;
  return text.slice(0, start) + wrap({ ...place, text: text.slice(start, end) }) + text.slice(end);
}
