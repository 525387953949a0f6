// The ways in which models write calls into their text. Each form has a mark that opens it, and reads what follows.
// Adding one is adding an entry.
import { isObject, parseExact, type ToolCall, type ToolSpec, writeExact } from "../../core/index.ts";
import { codeParameterOf } from "./code-tools.ts";
import { callsInJson, readJsonAt, skipSpace } from "./read-json.ts";
import { readPythonAt } from "./read-python.ts";

export type Found = { calls: ToolCall[]; end: number };

export type Reading = { text: string; match: RegExpExecArray; at: number; tools: readonly ToolSpec[] };

export type Form = {
  opens: RegExp;
  /** what follows the mark; undefined if it is no call */
  read(reading: Reading): Found | undefined;
};

/** Hermes, Qwen: JSON. Qwen3-Coder: functions and parameters as tags. GLM: a name, then keys and values. */
export const TAGGED: Form = {
  opens: /<tool_call>/g,
  read: ({ text, at, tools }) =>
    closed(
      text,
      withCode(text, readJsonList(text, at), tools) ??
        readFunctionTags(text, at, tools) ??
        readKeyTags(text, at, tools),
      "</tool_call>",
    ),
};

/** With a mark of their own, which prose does not have. */
export const MARKED: Form[] = [
  TAGGED,
  // Qwen3-Coder and Llama without the tag around it
  { opens: /(?=<function=)/g, read: ({ text, at, tools }) => readFunctionTags(text, at, tools) },
  // DeepSeek V3.2, MiniMax
  {
    opens: /<(?:｜DSML｜|\w+:)?invoke name="([^"]+)">/g,
    read: ({ text, match, at, tools }) => {
      const end = endOf(text, at, /<\/(?:｜DSML｜|\w+:)?invoke>/g);
      const body = text.slice(at, end.start);
      const pairs = [...body.matchAll(NAMED_PARAMETER)].map(([, key = "", value = ""]): [string, string] => [
        key,
        value,
      ]);
      return { calls: [fromPairs(match[1] ?? "", pairs, tools)], end: end.end };
    },
  },
  // Mistral: a list, or a name and its arguments
  { opens: /\[TOOL_CALLS\]/g, read: ({ text, at }) => readJson(text, at) ?? readNamed(text, at, NAMED_ARGS) },
  // Llama 3
  { opens: /<\|python_tag\|>/g, read: ({ text, at }) => readJsonList(text, at) ?? readPythonAt(text, at) },
  // DeepSeek V3 and R1, with their bars and blocks or the plain characters that some servers make of them
  {
    opens:
      /<[｜|]tool[▁_]call[▁_]begin[｜|]>\s*(?:function\s*<[｜|]tool[▁_]sep[｜|]>)?\s*([\w.-]+)\s*(?:<[｜|]tool[▁_]sep[｜|]>)?\s*(?:```(?:json)?\s*)?/g,
    read: ({ text, match, at }) => named(match[1] ?? "", text, at, /^\s*(?:```)?\s*<[｜|]tool[▁_]call[▁_]end[｜|]>/),
  },
  // Liquid
  { opens: /<\|tool_call_start\|>/g, read: ({ text, at }) => readJsonList(text, at) ?? readPythonAt(text, at) },
  // Kimi
  {
    opens: /<\|tool_call_begin\|>\s*(?:functions\.)?([\w.-]+?)(?::\d+)?\s*<\|tool_call_argument_begin\|>/g,
    read: ({ text, match, at }) => named(match[1] ?? "", text, at, /^\s*<\|tool_call_end\|>/),
  },
  // gpt-oss
  {
    opens:
      /(?:<\|start\|>assistant\s*)?(?:<\|channel\|>)?(?:commentary|analysis)? ?to=functions\.([\w.-]+)[^{]*?<\|message\|>/g,
    read: ({ text, match, at }) => named(match[1] ?? "", text, at, /^\s*<\|call\|>/),
  },
];

/** Without a mark: a call only if every name in it is a tool's. */
export const UNMARKED: Form[] = [
  {
    opens: /```[\w-]*[ \t]*\n/g,
    read: ({ text, at, tools }) => {
      const end = endOf(text, at, /\n?[ \t]*```/g);
      const body = text.slice(at, end.start).trim();
      const found = readWhole(body, tools);
      return found && { calls: found.calls, end: end.end };
    },
  },
  { opens: /^(?=[ \t]*[{[])/gm, read: ({ text, at }) => readJsonList(text, at) },
  {
    opens: /^(?=\s*(?:\[\s*)?(?:print\(\s*)?[A-Za-z_][\w.]*\()/g,
    read: ({ text, at }) => wholeRest(text, readPythonAt(text, at)),
  },
];

/** What is left of a format around the calls, and is nothing that anybody said. */
export const LEFTOVERS =
  /<\|(?:im_end|tool_call_end|eot_id|eom_id|end_of_text|end|call|channel|message|tool_calls_section_(?:begin|end))\|>|<[｜|]tool[▁_]calls[▁_](?:begin|end)[｜|]>|<[｜|]end[▁_]of[▁_]sentence[｜|]>|<\/?(?:｜DSML｜|\w+:)?(?:tool_calls?|function_calls?)>|<\/s>/g;

const NAMED_PARAMETER = /<(?:｜DSML｜|\w+:)?parameter name="([^"]+)"[^>]*>([\s\S]*?)<\/(?:｜DSML｜|\w+:)?parameter>/g;
const NAMED_ARGS = /\s*([A-Za-z_][\w.-]*)(?:\[CALL_ID\]([\w-]+))?(?:\[ARGS\])?(?=\s*\{)/y;

function readJson(text: string, at: number): Found | undefined {
  const json = readJsonAt(text, at);
  const calls = json && callsInJson(json.value);
  return calls && { calls, end: json.end };
}

const SUPERFLUOUS = /^[\s}\]]*(?=$|<\/tool_call>)/;

/** Several values in a row, with white space, commas or semicolons between them; superfluous brackets at the end. */
function readJsonList(text: string, at: number): Found | undefined {
  const first = readJson(text, at);
  if (!first) return undefined;
  let found = first;
  for (;;) {
    const next = readJson(text, found.end + (/^\s*[,;]?\s*/.exec(text.slice(found.end))?.[0].length ?? 0));
    if (!next) return { ...found, end: found.end + (SUPERFLUOUS.exec(text.slice(found.end))?.[0].length ?? 0) };
    found = { calls: [...found.calls, ...next.calls], end: next.end };
  }
}

/** A last call may have its code behind it, between tags and without escapes. */
function withCode(text: string, found: Found | undefined, tools: readonly ToolSpec[]): Found | undefined {
  const from = found && skipSpace(text, found.end);
  const call = found?.calls.at(-1);
  if (!found || !call || from === undefined || !text.startsWith("<code>", from)) return found;
  const close = endOf(text, from, codeEnd(text, from));
  const code = text
    .slice(from + "<code>".length, close.start)
    .replace(/^\r?\n/, "")
    .replace(/\r?\n$/, "");
  const given = call.arguments.trim() === "" ? {} : parseExact(call.arguments);
  if (!isObject(given)) return found;
  const key = codeParameterOf(tools.find(({ name }) => name === call.name)) ?? "code";
  const { [key]: _, ...others } = given;
  const whole = { ...call, arguments: writeExact({ ...others, [key]: code }) };
  return { calls: [...found.calls.slice(0, -1), whole], end: close.end };
}

/** Code may hold any tag but its own; without that one it ends with the call. */
function codeEnd(text: string, from: number): RegExp {
  const [own, next] = [text.indexOf("</code>", from), text.indexOf("<tool_call>", from)];
  return own !== -1 && (next === -1 || own < next) ? /<\/code>/g : /(?=<\/tool_call>)/g;
}

/** A text that is calls and nothing else. */
function readWhole(text: string, tools: readonly ToolSpec[]): Found | undefined {
  return (
    wholeRest(text, readFunctionTags(text, 0, tools)) ??
    wholeRest(text, readJsonList(text, 0)) ??
    wholeRest(text, readPythonAt(text, 0))
  );
}

function wholeRest(text: string, found: Found | undefined): Found | undefined {
  return found && text.slice(found.end).trim() === "" ? found : undefined;
}

/** `name{…}`, repeated. */
function readNamed(text: string, at: number, pattern: RegExp): Found | undefined {
  const calls: ToolCall[] = [];
  let end = at;
  for (;;) {
    pattern.lastIndex = end;
    const match = pattern.exec(text);
    const json = match && readJsonAt(text, pattern.lastIndex);
    if (!json || !isObject(json.value)) return calls.length > 0 ? { calls, end } : undefined;
    calls.push({ id: match[2] ?? "", name: match[1] ?? "", arguments: writeExact(json.value) });
    end = json.end;
    const again = /^\s*\[TOOL_CALLS\]/.exec(text.slice(end));
    end += again?.[0].length ?? 0;
  }
}

function named(name: string, text: string, at: number, close: RegExp): Found | undefined {
  const json = readJsonAt(text, at);
  if (!json || !isObject(json.value)) return undefined;
  const end = json.end + (close.exec(text.slice(json.end))?.[0].length ?? 0);
  return { calls: [{ id: "", name, arguments: writeExact(json.value) }], end };
}

/** `<function=name>` with JSON or `<parameter=key>` inside; the closing tags may be missing. */
function readFunctionTags(text: string, at: number, tools: readonly ToolSpec[]): Found | undefined {
  const calls: ToolCall[] = [];
  let end = at;
  for (;;) {
    const open = /^\s*<function=["']?([\w.:-]+)["']?>/.exec(text.slice(end));
    if (!open) return calls.length > 0 ? { calls, end } : undefined;
    const from = end + open[0].length;
    const name = open[1] ?? "";
    const json = readJsonAt(text, from);
    if (json && isObject(json.value)) {
      calls.push({ id: "", name, arguments: writeExact(json.value) });
      end = json.end + (/^\s*<\/function>/.exec(text.slice(json.end))?.[0].length ?? 0);
      continue;
    }
    const close = endOf(text, from, /<\/function>|(?=<\/tool_call>|<tool_call>|<function=)/g);
    const body = text.slice(from, close.start);
    const pairs = [...body.matchAll(PARAMETER)].map(([, key = "", value = ""]): [string, string] => [key, value]);
    if (pairs.length === 0 && body.trim() !== "") return undefined;
    calls.push(fromPairs(name, pairs, tools));
    end = close.end;
  }
}

const PARAMETER = /<parameter=["']?([\w.:-]+)["']?>\n?([\s\S]*?)\n?(?:<\/parameter>|(?=<parameter=)|$)/g;

/** GLM: a name, then `<arg_key>` and `<arg_value>` in turn. */
function readKeyTags(text: string, at: number, tools: readonly ToolSpec[]): Found | undefined {
  const head = /^\s*([A-Za-z_][\w.-]*)\s*(?=<arg_key>|<\/tool_call>|$)/.exec(text.slice(at));
  if (!head) return undefined;
  const from = at + head[0].length;
  const close = endOf(text, from, /(?=<\/tool_call>|<tool_call>)/g);
  const pattern = /<arg_key>([\s\S]*?)<\/arg_key>\s*<arg_value>([\s\S]*?)<\/arg_value>/g;
  const pairs = [...text.slice(from, close.start).matchAll(pattern)].map(
    ([, key = "", value = ""]): [string, string] => [key.trim(), value],
  );
  return { calls: [fromPairs(head[1] ?? "", pairs, tools)], end: close.end };
}

/** Values in tags are texts: the tool's schema says which of them are something else. */
function fromPairs(name: string, pairs: readonly [string, string][], tools: readonly ToolSpec[]): ToolCall {
  const properties = tools.find((tool) => tool.name === name)?.parameters.properties;
  const members = pairs.map(([key, value]) => {
    const schema = isObject(properties) ? properties[key] : undefined;
    const types = isObject(schema) ? [schema.type].flat() : [];
    const isText =
      types.includes("string") || (types[0] === undefined && !/^\s*[{["\d-]|^(true|false|null)$/.test(value));
    const json = isText ? undefined : parseExact(value.trim());
    return `${JSON.stringify(key)}:${json === undefined ? JSON.stringify(value) : writeExact(json)}`;
  });
  return { id: "", name, arguments: `{${members.join(",")}}` };
}

function closed(text: string, found: Found | undefined, tag: string): Found | undefined {
  if (!found) return undefined;
  const after = skipSpace(text, found.end);
  return text.startsWith(tag, after) ? { ...found, end: after + tag.length } : found;
}

/** Where a pattern is found next, or the end of the text. */
function endOf(text: string, at: number, pattern: RegExp): { start: number; end: number } {
  pattern.lastIndex = at;
  const match = pattern.exec(text);
  return match ? { start: match.index, end: match.index + match[0].length } : { start: text.length, end: text.length };
}
