// The text of MCP messages: every number as it was written, past the protocol's package, which writes and reads messages
// by itself and knows only JavaScript's numbers. What it would change travels through it as a string under a secret name.
import { randomUUID } from "node:crypto";
import type { JSONRPCMessage } from "@modelcontextprotocol/client";
import {
  changesNumbers,
  isObject,
  isTooDeep,
  type Json,
  type JsonObject,
  MAX_JSON_DEPTH,
  parseExact,
  stringEnd,
  toPlain,
  withExactNumbers,
  writeExact,
} from "../../core/index.ts";

/** No server and no client knows it, so none can write it. */
const SECRET = `rollout/${randomUUID()}`;
const INTERNAL_ERROR = -32603;

const texts = new WeakMap<object, string>();

/** The same arguments; to a server they are sent as this text, which must be their JSON. */
export function sentAs(args: JsonObject, text: string): JsonObject {
  if (text.trim() !== "") texts.set(args, text);
  return args;
}

/** For the package to write: a call's arguments become one string. */
export function hideArguments(message: JSONRPCMessage): JSONRPCMessage {
  const { params } = message as { params?: unknown };
  if (!isObject(params) || !isObject(params.arguments)) return message;
  const text = texts.get(params.arguments) ?? writeExact(params.arguments);
  return { ...message, params: { ...params, arguments: `${SECRET} ${text}` } } as JSONRPCMessage;
}

/** What the package wrote, with that string as the JSON that it holds; still one line. */
export function showArguments(written: string): string {
  const start = written.indexOf(`"${SECRET} `);
  if (start === -1) return written;
  const end = stringEnd(written, start) + 1;
  const text = (JSON.parse(written.slice(start, end)) as string).slice(SECRET.length + 1);
  return written.slice(0, start) + text.replaceAll(/[\r\n]/g, " ") + written.slice(end);
}

/** The text of a request, for the package to read: a call's arguments are kept in it as they were written. */
export function keepInRequests(text: string): string {
  return isChanged(text) ? editMessages(text, keepArguments) : text;
}

/** The same for an answer: results and schemas. One that nothing can walk becomes an error for whoever waits for it. */
export function keepInAnswers(text: string): string {
  if (isTooDeep(text)) return editMessages(text, refuse);
  return isChanged(text) ? editMessages(text, keepResult) : text;
}

/** The same for an answer that is already parsed. */
export function keepInAnswer(message: JsonObject, text: string): JsonObject {
  if (isTooDeep(text)) return refuse(message);
  return isChanged(text) ? keepResult(withExactNumbers(message, text)) : message;
}

/** What was kept in a result, in a tool of a list or in the parameters of a call: JSON. */
export function keptText(holder: { _meta?: { [key: string]: unknown } | undefined }): string | undefined {
  const kept = holder._meta?.[SECRET];
  return typeof kept === "string" ? kept : undefined;
}

/** The same as a value with exact numbers; else what the package made of it. */
export function keptValue<T>(holder: { _meta?: { [key: string]: unknown } | undefined }, otherwise: T): T {
  const text = keptText(holder);
  return text === undefined ? otherwise : (parseExact(text) as T);
}

/** The package's numbers are JavaScript's, and its copies of objects have no `__proto__`. */
function isChanged(text: string): boolean {
  return changesNumbers(text) || /__proto__|\\u00[5-7]/.test(text);
}

/** Several messages may come as one list. */
function editMessages(text: string, edit: (message: JsonObject) => JsonObject): string {
  let parsed: Json;
  try {
    parsed = JSON.parse(text) as Json;
  } catch {
    return text; // the package says what is wrong with it
  }
  const editOne = (message: Json) => (isObject(message) ? edit(message as JsonObject) : message);
  const exact = withExactNumbers(parsed, text);
  return JSON.stringify(Array.isArray(exact) ? exact.map(editOne) : editOne(exact));
}

function keepResult(exact: JsonObject): JsonObject {
  const message = toPlain(exact);
  const { result } = message;
  if (!isObject(result)) return message;
  const written = exact.result as JsonObject;
  const { tools } = result;
  if (!Array.isArray(tools)) return { ...message, result: keep(result as JsonObject, written) };
  const kept = tools.map((tool, at) => {
    const { inputSchema } = (written.tools as JsonObject[])[at] ?? {};
    return isObject(tool) && isObject(inputSchema) ? keep(tool as JsonObject, inputSchema as JsonObject) : tool;
  });
  return { ...message, result: { ...result, tools: kept } as JsonObject };
}

function keepArguments(exact: JsonObject): JsonObject {
  const message = toPlain(exact);
  const { params } = message;
  if (!isObject(params) || !isObject(params.arguments)) return message;
  return { ...message, params: keep(params as JsonObject, (exact.params as JsonObject).arguments as JsonObject) };
}

/** Only where the protocol allows it: the package refuses a `_meta` that is not an object. */
function keep(holder: JsonObject, written: JsonObject): JsonObject {
  const { _meta = {} } = holder;
  return isObject(_meta) ? { ...holder, _meta: { ..._meta, [SECRET]: writeExact(written) } as JsonObject } : holder;
}

function refuse({ id, method }: JsonObject): JsonObject {
  const message = `the server's answer is nested deeper than ${MAX_JSON_DEPTH} levels`;
  return id === undefined || method !== undefined
    ? { jsonrpc: "2.0", method: "notifications/message" }
    : { jsonrpc: "2.0", id, error: { code: INTERNAL_ERROR, message } };
}
