// Whether a tool's result is an error: one rule for tools as they answer, and one for records that are read later.
import { isObject, parseJson } from "./json.ts";
import type { TrajectoryMessage } from "./message.ts";

/**
 * By the contract of the datasets: an object with an `error` that says something, with `success: false`, or with the text
 * of an unknown tool. A server with its own protocol (MCP) says itself whether its result is an error.
 */
export function isErrorValue(value: unknown): boolean {
  if (typeof value === "string") return ERROR_TEXT.test(value);
  if (!isObject(value)) return false;
  return value.success === false || saysSomething(value.error) || ERROR_TEXT.test(String(value.message ?? ""));
}

/** The same for a result as the model sees it. */
export function isErrorText(content: string): boolean {
  if (!MAY_BE_ERROR.test(content)) return false;
  return isErrorValue(parseJson(content) ?? content);
}

/** The calls of a record whose results are errors: as recorded, or, in records from elsewhere, by their texts. */
export function findErrors({ messages, metadata }: ErrorSource): Set<string> {
  if (Array.isArray(metadata?.tool_errors)) return new Set(metadata.tool_errors.map(String));
  return new Set(
    messages.flatMap((message) =>
      message.role === "tool" && isErrorText(message.content) ? [message.tool_call_id] : [],
    ),
  );
}

type ErrorSource = { messages: readonly TrajectoryMessage[]; metadata?: { tool_errors?: unknown } };

const ERROR_TEXT = /Unknown tool|^\s*(?:\w*(?:error|exception)\s*:|traceback \()/i;
const MAY_BE_ERROR = /"error"|"success"|Unknown tool|error\s*:|exception\s*:|traceback \(/i;

/** `error: null`, `false`, `0`, `""`, `[]` and `{}` mean that there was none. */
function saysSomething(error: unknown): boolean {
  if (error === undefined || error === null || error === false || error === "" || error === 0) return false;
  return typeof error !== "object" || Object.keys(error).length > 0;
}
