// The parameters of an exported function, read from the file's text: Node removes types before they could be asked for.
import { isObject, type JsonObject, parseJson } from "../../core/index.ts";
import { cleanComment, type FindType, readType, UnreadableType } from "./read-type.ts";

export type Signature = {
  description: string;
  parameters: JsonObject;
  /** in order; `undefined` where the function takes one object that holds them all */
  names: string[] | undefined;
};

type Parameter = { name: string; schema: JsonObject; isOptional: boolean; isObject: boolean; default?: unknown };

/** Undefined if the text has no such function. Throws UnreadableType. */
export function readSignature(text: string, exported: string): Signature | undefined {
  const masked = maskText(text);
  const local = new RegExp(`export\\s*\\{[^}]*?\\b([\\w$]+)\\s+as\\s+${escapePattern(exported)}\\b`).exec(masked)?.[1];
  const declared = findDeclaration(masked, local ?? exported);
  if (!declared) return undefined;
  const docs = readDocs(commentBefore(text, declared.start));
  const find: FindType = (name) => findType(masked, name);
  const parts = declared.single ?? splitParameters(masked, declared.open);
  const read = parts
    .filter(([from, to]) => masked.slice(from, to).trim() !== "")
    .map(([from, to], index) => readParameter({ text, masked, from, to, index, find, docs }));
  const [only] = read;
  const whole = only?.isObject && read.length === 1 ? only.schema : undefined;
  const parameters = whole ? withDocs(whole, docs) : toObject(read, docs);
  return { description: docs.description, parameters, names: whole ? undefined : read.map(({ name }) => name) };
}

type Span = [from: number, to: number];
type Declaration = { start: number; open: number; single?: Span[] };

/** `function f(`, `const f = (`, `f = function (`, `f = async x =>`; `open` is the place after the parenthesis. */
function findDeclaration(masked: string, name: string): Declaration | undefined {
  const type = String.raw`(?:\s*<[^(]*>)?\s*`;
  const patterns = [
    String.raw`(?:async\s+)?function\s*\*?\s*${escapePattern(name)}${type}\(`,
    String.raw`(?:(?:const|let|var)\s+|exports\.)${escapePattern(name)}\b(?:\s*:[^=]+(?:=>[^=]+)?)?\s*=\s*(?:async\s*)?(?:function\s*\*?\s*[\w$]*)?${type}\(`,
  ];
  for (const pattern of patterns) {
    const match = new RegExp(`(?<![\\w$.])${pattern}`).exec(masked);
    if (match) return { start: match.index, open: match.index + match[0].length };
  }
  const bare = new RegExp(
    `(?<![\\w$.])(?:const|let|var)\\s+${escapePattern(name)}\\s*=\\s*(?:async\\s+)?([\\w$]+)\\s*=>`,
  ).exec(masked);
  if (!bare) return undefined;
  const from = bare.index + bare[0].search(/[\w$]+\s*=>$/);
  return { start: bare.index, open: from, single: [[from, from + (bare[1] as string).length]] };
}

function splitParameters(masked: string, open: number): Span[] {
  const spans: Span[] = [];
  let [depth, from] = [0, open];
  for (let at = open; at < masked.length; at++) {
    const character = masked[at] as string;
    if (character === "=" && masked[at + 1] === ">") at++;
    else if (depth === 0 && (character === ")" || character === ",")) {
      spans.push([from, at]);
      if (character === ")") return spans;
      from = at + 1;
    } else if ("([{<".includes(character)) depth++;
    else if (")]}>".includes(character)) depth--;
  }
  throw new UnreadableType("its parameters have no end", open);
}

type Reading = { text: string; masked: string; from: number; to: number; index: number; find: FindType; docs: Docs };

function readParameter({ text, masked, from, to, index, find, docs }: Reading): Parameter {
  const start = from + masked.slice(from, to).search(/\S/);
  if (masked.startsWith("...", start)) throw new UnreadableType("a tool's parameters need names: ... has none", start);
  const nameEnd = masked[start] === "{" ? endOf(masked, start) : start + /^[\w$]*/.exec(masked.slice(start))![0].length;
  const isDestructured = masked[start] === "{";
  const name = isDestructured ? (index === 0 ? "args" : "options") : masked.slice(start, nameEnd);
  if (name === "") throw new UnreadableType("a tool's parameters need names", start);
  const marks = /^(\s*\?)?\s*(:)?/.exec(masked.slice(nameEnd, to)) as RegExpExecArray;
  const typeAt = marks[2] ? nameEnd + marks[0].length : undefined;
  const equals = findDefault(masked, typeAt ?? nameEnd, to);
  const value = equals === undefined ? undefined : readLiteral(text.slice(equals + 1, to));
  const documented = docs.parameters.get(name);
  const read =
    typeAt !== undefined
      ? readType(text, typeAt, find)
      : documented?.type
        ? readDocumented(documented.type, name, start)
        : { schema: isDestructured ? fromPattern(masked, start, nameEnd, docs) : guess(value), isOptional: false };
  const isOptional =
    read.isOptional || marks[1] !== undefined || equals !== undefined || (documented?.isOptional ?? false);
  const isObjectType = read.schema.type === "object" && isObject(read.schema.properties);
  return { name, schema: read.schema, isOptional, isObject: isObjectType, default: value };
}

/** A comment's type has no place of its own in the file. */
function readDocumented(type: string, name: string, at: number) {
  try {
    return readType(type, 0);
  } catch (error) {
    if (!(error instanceof UnreadableType)) throw error;
    throw new UnreadableType(`the type {${type}} of "${name}" in its comment ${error.message}`, at);
  }
}

/** `{ query, limit = 5 }` in JavaScript: names, and types as the comment has them. */
function fromPattern(masked: string, start: number, end: number, docs: Docs): JsonObject {
  const properties: { [name: string]: JsonObject } = {};
  const required: string[] = [];
  for (const [from, to] of splitParameters(`${masked.slice(0, end - 1)})`, start + 1)) {
    const [, name, hasDefault] = /^\s*([\w$]+)[^=]*(=)?/.exec(masked.slice(from, to)) ?? [];
    if (name === undefined) continue;
    const documented = docs.parameters.get(name);
    const type = documented?.type;
    properties[name] = type === undefined ? {} : readDocumented(type, name, from).schema;
    if (!hasDefault && !documented?.isOptional) required.push(name);
  }
  return { type: "object", properties, required, additionalProperties: false };
}

function guess(value: unknown): JsonObject {
  const type = typeof value;
  if (Array.isArray(value)) return { type: "array", items: {} };
  return type === "string" || type === "number" || type === "boolean" ? { type } : {};
}

function readLiteral(text: string): unknown {
  const trimmed = text.trim();
  const [, quoted] = /^['`]([^'"`\\$]*)['`]$/.exec(trimmed) ?? [];
  return quoted ?? parseJson(trimmed);
}

/** The `=` of a default value, outside of brackets. */
function findDefault(masked: string, from: number, to: number): number | undefined {
  let depth = 0;
  for (let at = from; at < to; at++) {
    const character = masked[at] as string;
    if (character === "=" && masked[at + 1] === ">") at++;
    else if (character === "=" && depth === 0) return at;
    else if ("([{<".includes(character)) depth++;
    else if (")]}>".includes(character)) depth--;
  }
  return undefined;
}

function endOf(masked: string, start: number): number {
  let depth = 0;
  for (let at = start; at < masked.length; at++) {
    if ("([{".includes(masked[at] as string)) depth++;
    else if (")]}".includes(masked[at] as string) && --depth === 0) return at + 1;
  }
  throw new UnreadableType("its parameters have no end", start);
}

function toObject(read: Parameter[], docs: Docs): JsonObject {
  const properties = Object.fromEntries(
    read.map(({ name, schema, default: value }) => {
      const description = docs.parameters.get(name)?.description;
      const more = { ...(description && { description }), ...(value !== undefined && { default: value }) };
      return [name, { ...schema, ...more }];
    }),
  ) as JsonObject;
  const required = read.filter(({ isOptional }) => !isOptional).map(({ name }) => name);
  return { type: "object", properties, required, additionalProperties: false };
}

function withDocs(schema: JsonObject, docs: Docs): JsonObject {
  const properties = Object.entries(schema.properties as { [name: string]: JsonObject }).map(([name, property]) => {
    const description = docs.parameters.get(name)?.description;
    return [name, description && property.description === undefined ? { ...property, description } : property];
  });
  return { ...schema, properties: Object.fromEntries(properties) };
}

function findType(masked: string, name: string): number | undefined {
  const own = new RegExp(
    `(?<![\\w$.])(?:interface\\s+${escapePattern(name)}\\s*(?=\\{)|type\\s+${escapePattern(name)}\\s*=)`,
  ).exec(masked);
  return own ? own.index + own[0].length : undefined;
}

type Docs = {
  description: string;
  parameters: Map<string, { type?: string; description: string; isOptional: boolean }>;
};

/** `@param {type} [name=default] - text`, and what comes before the first tag. */
function readDocs(comment: string): Docs {
  const [description = "", ...tags] = cleanComment(comment).split(/^\s*@/m);
  const parameters: Docs["parameters"] = new Map();
  for (const tag of tags) {
    const [, type, bracket, name, text = ""] =
      /^(?:param|arg|argument)\s+(?:\{((?:[^{}]|\{[^{}]*\})*)\}\s*)?(\[)?\s*([\w$.]+)(?:\s*=[^\]]*)?\]?\s*(?:-\s*)?([\s\S]*)$/.exec(
        tag,
      ) ?? [];
    if (name === undefined) continue;
    const isOptional = bracket !== undefined || (type?.endsWith("=") ?? false);
    const own = { type: type?.replace(/=$/, ""), description: join(text), isOptional };
    parameters.set(name.replace(/^.*\./, ""), own);
  }
  return { description: join(description), parameters };
}

/** Lines of one paragraph are one line. */
function join(text: string): string {
  return text.trim().replace(/[ \t]*\n(?![ \t]*\n)(?<!\n\n)(?![ \t]*[-*\d])[ \t]*/g, " ");
}

function commentBefore(text: string, start: number): string {
  const before = text.slice(0, start);
  const from = before.lastIndexOf("/**");
  const [comment] =
    /^\/\*\*[\s\S]*?\*\/(?=\s*(?:export\s+)?(?:default\s+)?$)/.exec(before.slice(Math.max(from, 0))) ?? [];
  return from === -1 ? "" : (comment ?? "");
}

/** The same length, with comments and the insides of texts blank: brackets and commas that are left are the code's. */
function maskText(text: string): string {
  return text.replace(
    /\/\*[\s\S]*?\*\/|\/\/[^\n]*|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\[\s\S])*`/g,
    (part) => part.replace(/[^\n]/g, " "),
  );
}

function escapePattern(name: string): string {
  return name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}
