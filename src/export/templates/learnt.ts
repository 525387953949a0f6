// The rendered text that enters the loss, by kind.
import { isObject, type Json, type JsonObject } from "../../core/index.ts";
import type { ChatTemplate } from "./load-template.ts";
import { formsOf, type Located } from "./locate.ts";
import type { Span } from "./marks.ts";
import { argumentForms } from "./probes.ts";
import { calledFunction, type Part, type TemplateRow } from "./row-parts.ts";

const LEARNT_KINDS = ["reasoning", "text", "calls", "results", "user", "system", "markup"] as const;
type Kind = (typeof LEARNT_KINDS)[number];
export type Learnt = { [kind in Kind]: string };

export function noLearnt(): Learnt {
  return Object.fromEntries(LEARNT_KINDS.map((kind) => [kind, ""])) as Learnt;
}

export function findLearnt(template: ChatTemplate, row: TemplateRow, plain: string, located: Located): Learnt {
  const learnt = noLearnt();
  const prompt = located.messages.size > 0 ? generationPrompt(template, row) : "";
  for (const [index, message] of row.messages.entries()) {
    if (!row.loss[index]) continue;
    const own = ownSegments(located.messages, index);
    const end = own.at(-1)?.end ?? plain.length;
    const parts = located.parts.flatMap((part, id) => {
      const span = part.message === index ? pick(part.spans, own) : undefined;
      return span ? [{ part, span, until: Math.min(nextStart(located, id, span.end), end) }] : [];
    });
    const pieces: (Span & { kind: Kind })[] = [];
    for (const { part, span, until } of parts) {
      pieces.push({ ...span, kind: kindOf(part, message) });
      if (part.kind !== "name") continue;
      const given = calledFunction((message.tool_calls as JsonObject[])[part.call!]!).arguments;
      for (const piece of findArguments(given, plain, { start: span.end, end: until }))
        pieces.push({ ...piece, kind: "calls" });
    }
    pieces.sort((a, b) => a.start - b.start);
    for (const { kind, start, end } of pieces) learnt[kind] += plain.slice(start, end);
    learnt.markup += restOf(own, pieces, plain, message.role === "assistant" ? prompt : "");
  }
  return learnt;
}

function kindOf(part: Part, message: JsonObject): Kind {
  if (part.kind === "name") return "calls";
  if (part.kind === "reasoning") return "reasoning";
  if (message.role === "tool") return "results";
  return message.role === "assistant" ? "text" : message.role === "user" ? "user" : "system";
}

/** What was written for a message, without what was written for others in between. */
function ownSegments(all: Located["messages"], index: number): Span[] {
  const others = [...all].flatMap(([message, spans]) => (message === index ? [] : spans));
  return (all.get(index) ?? []).flatMap((segment) =>
    subtract(
      segment,
      others.filter(({ start, end }) => start >= segment.start && end <= segment.end),
    ),
  );
}

function pick(spans: Span[], own: Span[]): Span | undefined {
  return (
    spans.find(({ start, end }) => own.some((segment) => segment.start <= start && end <= segment.end)) ?? spans[0]
  );
}

/** Where the next piece of the row begins. */
function nextStart(located: Located, id: number, from: number): number {
  const starts = located.parts.slice(id + 1, id + 2).flatMap(({ spans }) => spans.map(({ start }) => start));
  return Math.min(Number.POSITIVE_INFINITY, ...starts.filter((start) => start >= from));
}

/** Arguments as one piece of JSON, or, where a template writes them in its own way, their names and values. */
function findArguments(given: Json | undefined, plain: string, { start, end }: Span): Span[] {
  if (given === undefined || given === null) return [];
  const region = plain.slice(start, end);
  const texts = typeof given === "string" ? [given.trim()] : argumentForms(given);
  for (const form of texts.flatMap(formsOf)) {
    const at = form === "" ? -1 : region.indexOf(form);
    if (at !== -1) return [{ start: start + at, end: start + at + form.length }];
  }
  const found: Span[] = [];
  let from = 0;
  for (const text of listLeaves(given)) {
    const at = text === "" ? -1 : region.indexOf(text, from);
    if (at === -1) continue;
    from = at + text.length;
    found.push({ start: start + at, end: start + from });
  }
  return found;
}

function listLeaves(value: Json): string[] {
  if (Array.isArray(value)) return value.flatMap(listLeaves);
  if (isObject(value)) return Object.entries(value).flatMap(([key, member]) => [key, ...listLeaves(member as Json)]);
  return [String(value)];
}

/** Of a trained message, what the model does not find in the prompt already. */
function restOf(own: Span[], pieces: Span[], plain: string, prompt: string): string {
  const [first, ...more] = own;
  if (!first) return "";
  const head = plain.slice(first.start, first.end);
  let shared = 0;
  while (shared < prompt.length && head[shared] === prompt[shared]) shared++;
  return [{ start: first.start + shared, end: first.end }, ...more]
    .flatMap((segment) => subtract(segment, pieces))
    .map(({ start, end }) => plain.slice(start, end))
    .join("");
}

function subtract(whole: Span, parts: Span[]): Span[] {
  const rest: Span[] = [];
  let at = whole.start;
  for (const { start, end } of parts.toSorted((a, b) => a.start - b.start)) {
    if (end <= at || start >= whole.end) continue;
    if (start > at) rest.push({ start: at, end: start });
    at = end;
  }
  if (at < whole.end) rest.push({ start: at, end: whole.end });
  return rest;
}

const prompts = new WeakMap<ChatTemplate, string>();

/** What the template adds where the model is to go on. */
function generationPrompt(template: ChatTemplate, { messages, tools }: TemplateRow): string {
  let prompt = prompts.get(template);
  if (prompt === undefined) {
    const first = messages.findIndex(({ role }) => role === "assistant");
    prompt = "";
    try {
      const input = { messages: messages.slice(0, first), tools };
      const without = template.render(input);
      const asked = template.render({ ...input, add_generation_prompt: true });
      if (asked.startsWith(without)) prompt = asked.slice(without.length);
    } catch {
      // a template that wants more than a beginning has no prompt to compare with
    }
    prompts.set(template, prompt);
  }
  return prompt;
}
