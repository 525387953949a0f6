// JSON inside other text: where a value ends, and which calls it holds.
import { isObject, parseExact, stringEnd, type ToolCall, writeExact } from "../../core/index.ts";

/** Where the object or list that opens at `start` closes; undefined if it does not. */
function jsonEnd(text: string, start: number): number | undefined {
  let depth = 0;
  for (let index = start; index < text.length; index++) {
    const character = text[index];
    if (character === '"') {
      index = stringEnd(text, index);
    } else if (character === "{" || character === "[") depth++;
    else if ((character === "}" || character === "]") && --depth === 0) return index + 1;
  }
  return undefined;
}

/** The value at `start`, after white space. Some models double the outer braces, as their prompt template did. */
export function readJsonAt(text: string, start: number): { value: unknown; end: number } | undefined {
  const from = skipSpace(text, start);
  if (text[from] !== "{" && text[from] !== "[") return undefined;
  const end = jsonEnd(text, from);
  if (end === undefined) return undefined;
  const value = parseExact(text.slice(from, end)) ?? parseExact(undouble(text.slice(from, end)));
  return value === undefined ? undefined : { value, end };
}

/** The text of a member of the object that opens at `start`, as it is written there; the last one of that name. */
export function memberText(text: string, start: number, name: string): string | undefined {
  let depth = 0;
  let from: number | undefined;
  let found: string | undefined;
  for (let index = skipSpace(text, start); index < text.length; index++) {
    const character = text[index];
    if (character === '"') {
      const end = stringEnd(text, index);
      const colon = skipSpace(text, end + 1);
      if (depth === 1 && from === undefined && text[colon] === ":" && text.slice(index, end + 1) === `"${name}"`)
        from = colon + 1;
      index = end;
    } else if (character === "{" || character === "[") depth++;
    else if (depth === 1 && (character === "," || character === "}")) {
      if (from !== undefined) found = text.slice(from, index).trim();
      from = undefined;
      if (character === "}") return found;
    } else if ((character === "}" || character === "]") && --depth === 0) return undefined;
  }
  return undefined;
}

function undouble(text: string): string {
  return text.startsWith("{{") && text.endsWith("}}") ? text.slice(1, -1) : "";
}

export function skipSpace(text: string, start: number): number {
  let index = start;
  while (index < text.length && /\s/.test(text[index] as string)) index++;
  return index;
}

const NAMES = ["name", "function", "tool", "tool_name", "function_name", "action"];
const ARGUMENTS = ["arguments", "parameters", "args", "input", "action_input", "tool_input", "kwargs"];

/** The calls that a JSON value is: one, a list, or a message that holds them; undefined if any part is something else. */
export function callsInJson(value: unknown): ToolCall[] | undefined {
  if (Array.isArray(value)) {
    const calls = value.map(callsInJson);
    return value.length > 0 && calls.every((each) => each !== undefined) ? calls.flat() : undefined;
  }
  if (!isObject(value)) return undefined;
  const wrapped = value.tool_calls ?? value.function_call ?? value.tool_call;
  if (wrapped !== undefined) return callsInJson(wrapped);
  const called = isObject(value.function) ? value.function : value;
  if (isDescription(called)) return undefined;
  const name = NAMES.map((key) => called[key]).find((text) => typeof text === "string" && text !== "");
  const key = ARGUMENTS.find((member) => called[member] !== undefined);
  const given = key === undefined ? {} : called[key];
  if (typeof name !== "string" || (typeof given !== "string" && !isObject(given))) return undefined;
  const id = typeof value.id === "string" ? value.id : "";
  return [{ id, name, arguments: typeof given === "string" ? given : writeExact(given) }];
}

/** A tool as its list describes it, which a model may quote. */
function isDescription({ description, parameters }: Record<string, unknown>): boolean {
  return typeof description === "string" && isObject(parameters) && isObject(parameters.properties);
}

/** Whether a text is JSON that calls a function by name and with arguments, whatever functions there are. */
export function isCallShaped(text: string): boolean {
  if (!/^[{[]/.test(text)) return false; // failing to parse prose costs more than all the rest
  const value = parseExact(text);
  return [value].flat().every((one) => {
    const called = isObject(one) && isObject(one.function) ? one.function : one;
    if (!isObject(called) || !ARGUMENTS.some((key) => isObject(called[key]))) return false;
    return callsInJson(one)?.every(({ name }) => /^[A-Za-z_][\w.:-]*$/.test(name)) ?? false;
  });
}
