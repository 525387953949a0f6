// The JSON Schema that a TypeScript type means, read from its text: what tools take, not the whole language.
import type { JsonObject } from "../../core/index.ts";

/** What is wrong, and where in the text. */
export class UnreadableType extends Error {
  override name = "UnreadableType";
  readonly at: number;
  constructor(message: string, at: number) {
    super(message);
    this.at = at;
  }
}

/** `isOptional`: undefined is among its values. */
export type ReadType = { schema: JsonObject; isOptional: boolean };

/** Finds what a name of the file's own stands for: the place of its type's text. */
export type FindType = (name: string) => number | undefined;

type Token = { kind: "word" | "text" | "number" | "doc" | "sign"; text: string; at: number };

const TOKEN =
  /\s+|\/\/[^\n]*|(\/\*\*[\s\S]*?\*\/)|\/\*[\s\S]*?\*\/|([A-Za-z_$][\w$.]*)|("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|`[^`$]*`)|(-?\d[\d_.]*)|(=>|\.{3}|.)/gsy;

const NAMED: { [name: string]: JsonObject } = {
  string: { type: "string" },
  number: { type: "number" },
  boolean: { type: "boolean" },
  null: { type: "null" },
  true: { type: "boolean", enum: [true] },
  false: { type: "boolean", enum: [false] },
  any: {},
  unknown: {},
  object: { type: "object" },
  // as comments of JavaScript write them
  String: { type: "string" },
  Number: { type: "number" },
  Boolean: { type: "boolean" },
  Object: { type: "object" },
  integer: { type: "integer" },
  int: { type: "integer" },
  "*": {},
};

const FUNCTION = /^\(\s*(?:\)|\.\.\.|\w+\s*\??\s*[:,]|\w+\s*\)\s*=>)/;
const LISTS = ["Array", "ReadonlyArray"];
const MAX_DEPTH = 40;

/** The type that begins at a place of the text; what follows it is not looked at. */
export function readType(text: string, at: number, find: FindType = () => undefined, around: string[] = []): ReadType {
  return new TypeReader(text, at, find, around).whole();
}

class TypeReader {
  readonly #text: string;
  readonly #find: FindType;
  /** the names that are being read: a type that holds itself has no end */
  readonly #around: string[];
  #next: Token | undefined;
  #at: number;

  constructor(text: string, at: number, find: FindType, around: string[]) {
    this.#text = text;
    this.#at = at;
    this.#find = find;
    this.#around = around;
    this.#advance();
  }

  whole(): ReadType {
    if (this.#around.length > MAX_DEPTH) throw this.#wrong("is nested too deeply");
    const read = this.#union();
    return { schema: read.schema, isOptional: read.isOptional };
  }

  #union(): ReadType {
    this.#take("|");
    const choices = [this.#intersection()];
    while (this.#take("|")) choices.push(this.#intersection());
    const isOptional = choices.some((choice) => choice === undefined);
    const schemas = choices.filter((choice) => choice !== undefined);
    return { schema: eitherOf(schemas), isOptional };
  }

  #intersection(): JsonObject | undefined {
    const first = this.#postfix();
    if (this.#next?.text === "&") throw this.#wrong("is an intersection (&)");
    return first;
  }

  /** Undefined for `undefined`. */
  #postfix(): JsonObject | undefined {
    const isNullable = this.#take("?");
    let schema = this.#primary();
    while (this.#next?.text === "[") {
      this.#advance();
      this.#expect("]");
      schema = { type: "array", items: schema ?? {} };
    }
    if (this.#next?.text === "=>") throw this.#wrong("is a function");
    return isNullable && schema ? eitherOf([schema, NAMED.null as JsonObject]) : schema;
  }

  #primary(): JsonObject | undefined {
    const token = this.#next;
    if (!token) throw this.#wrong("is missing");
    this.#advance(token.text === "{");
    if (token.kind === "text") return { type: "string", enum: [unquote(token.text)] };
    if (token.kind === "number") return { type: "number", enum: [Number(token.text.replaceAll("_", ""))] };
    if (token.text === "(") {
      if (FUNCTION.test(this.#text.slice(token.at))) throw this.#wrong("is a function", token);
      const { schema } = this.#union();
      this.#expect(")");
      return schema;
    }
    if (token.text === "{") return this.#members();
    if (token.text === "[") return this.#tuple();
    if (token.text === "readonly") return this.#postfix();
    if (token.text === "undefined" || token.text === "void") return undefined;
    if (token.kind === "word" || token.text === "*") return this.#named(token);
    throw this.#wrong("cannot be read", token);
  }

  #named(token: Token): JsonObject {
    const { text: name } = token;
    if (LISTS.includes(name)) return { type: "array", items: this.#arguments()[0] ?? {} };
    if (name === "Readonly" || name === "Required") return this.#arguments()[0] ?? {};
    if (name === "Record") return { type: "object", additionalProperties: this.#arguments()[1] ?? {} };
    const known = Object.hasOwn(NAMED, name) ? NAMED[name] : undefined;
    if (known) return known;
    if (this.#next?.text === "<") throw this.#wrong(`${name}<…> cannot be read as JSON`, token);
    const place = this.#find(name);
    if (place === undefined) throw this.#wrong(`${name} is not defined in this file, or is no type of JSON`, token);
    if (this.#around.includes(name)) throw this.#wrong(`${name} holds itself`, token);
    return readType(this.#text, place, this.#find, [...this.#around, name]).schema;
  }

  #arguments(): JsonObject[] {
    const read: JsonObject[] = [];
    if (!this.#take("<") && !this.#take(".<")) return read;
    do read.push(this.#union().schema);
    while (this.#take(","));
    this.#expect(">");
    return read;
  }

  #members(): JsonObject {
    const properties: { [name: string]: JsonObject } = {};
    const required: string[] = [];
    let others: JsonObject | false = false;
    for (;;) {
      const doc = this.#doc();
      if (this.#take("}")) break;
      if (this.#take(";") || this.#take(",")) continue;
      if (this.#take("[")) {
        while (this.#next && this.#next.text !== "]") this.#advance();
        this.#expect("]");
        this.#expect(":");
        others = this.#union().schema;
        continue;
      }
      this.#take("readonly");
      const token = this.#next;
      if (!token || (token.kind !== "word" && token.kind !== "text")) throw this.#wrong("cannot be read");
      this.#advance();
      const name = token.kind === "text" ? unquote(token.text) : token.text;
      const isOptional = this.#take("?");
      this.#expect(":");
      const read = this.#union();
      properties[name] = doc ? { ...read.schema, description: doc } : read.schema;
      if (!isOptional && !read.isOptional) required.push(name);
    }
    return { type: "object", properties, required, additionalProperties: others };
  }

  #tuple(): JsonObject {
    const items: JsonObject[] = [];
    while (!this.#take("]")) {
      items.push(this.#union().schema);
      this.#take(",");
    }
    return { type: "array", items: eitherOf(items), minItems: items.length, maxItems: items.length };
  }

  #doc(): string | undefined {
    let doc: string | undefined;
    for (; this.#next?.kind === "doc"; this.#advance(true)) doc = cleanComment(this.#next.text);
    return doc;
  }

  #take(sign: string): boolean {
    while (this.#next?.kind === "doc" && sign !== "}") this.#advance(true);
    if (this.#next?.text !== sign) return false;
    this.#advance(true);
    return true;
  }

  #expect(sign: string): void {
    if (!this.#take(sign)) throw this.#wrong(`cannot be read: "${sign}" is expected`);
  }

  /** Comments that say something are kept only where they may be about a member. */
  #advance(withDocs = false): void {
    for (;;) {
      TOKEN.lastIndex = this.#at;
      const match = TOKEN.exec(this.#text);
      if (!match) {
        this.#next = undefined;
        return;
      }
      const at = this.#at;
      this.#at = TOKEN.lastIndex;
      const [, doc, word, text, number, sign] = match;
      const kinds = { doc, word, text, number, sign };
      const found = Object.entries(kinds).find(([, value]) => value !== undefined);
      if (!found || (found[0] === "doc" && !withDocs)) continue;
      this.#next = { kind: found[0] as Token["kind"], text: found[1] as string, at };
      return;
    }
  }

  #wrong(message: string, token = this.#next): UnreadableType {
    return new UnreadableType(message, token?.at ?? this.#at);
  }
}

/** Literals of one kind become one list of choices. */
function eitherOf(schemas: JsonObject[]): JsonObject {
  const [first] = schemas;
  if (first === undefined) return {};
  if (schemas.length === 1) return first;
  if (schemas.some((schema) => Object.keys(schema).length === 0)) return {};
  const literals = schemas.filter(({ enum: values }) => Array.isArray(values));
  const merged = ["string", "number", "boolean"].flatMap((type): JsonObject[] => {
    const values = literals.filter((schema) => schema.type === type).flatMap((schema) => schema.enum as []);
    if (values.length === 0) return [];
    return [type === "boolean" && values.length === 2 ? { type } : { type, enum: [...new Set(values)] }];
  });
  const all = [...schemas.filter((schema) => !literals.includes(schema)), ...merged];
  const distinct = all.filter(
    (schema, index) => all.findIndex((other) => JSON.stringify(other) === JSON.stringify(schema)) === index,
  );
  return distinct.length === 1 ? (distinct[0] as JsonObject) : { anyOf: distinct };
}

function unquote(text: string): string {
  return text.slice(1, -1).replace(/\\(.)/g, "$1");
}

/** The text of a comment without its stars. */
export function cleanComment(comment: string): string {
  return comment
    .replace(/^\/\*\*?|\*\/$/g, "")
    .split("\n")
    .map((line) => line.replace(/^\s*\*? ?/, "").trimEnd())
    .join("\n")
    .trim();
}
