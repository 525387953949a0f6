// Calls written as Python: `find(id=7)`, alone or in a list, as Llama and Gemma do. Only keyword arguments with plain
// literals are read; anything else is no call of ours.
import type { Json, JsonObject, ToolCall } from "../../core/index.ts";
import { skipSpace } from "./read-json.ts";

class Unreadable extends Error {}

/** The calls in the text from `start` on, and where they end; undefined if there is anything else in between. */
export function readPythonAt(text: string, start: number): { calls: ToolCall[]; end: number } | undefined {
  const reader = new Reader(text, start);
  try {
    const calls = reader.calls();
    return calls.length > 0 ? { calls, end: reader.at } : undefined;
  } catch (error) {
    if (error instanceof Unreadable) return undefined;
    throw error;
  }
}

class Reader {
  at: number;
  readonly #text: string;

  constructor(text: string, start: number) {
    this.#text = text;
    this.at = start;
  }

  calls(): ToolCall[] {
    if (this.#take("[")) return this.#list("]", () => this.#call());
    const printed = this.#match(/print\(\s*(?=[\w.]+\()/y) !== undefined;
    const calls = [this.#call()];
    if (printed) this.#need(")");
    while (this.#match(/\s*[;\n]\s*(?=[\w.]+\()/y) !== undefined) calls.push(this.#call());
    return calls;
  }

  #call(): ToolCall {
    const name = this.#match(/[A-Za-z_][\w.]*(?=\()/y);
    if (name === undefined) throw new Unreadable();
    this.#need("(");
    const entries = this.#list(")", (): [string, Json] => {
      const key = this.#match(/[A-Za-z_]\w*/y);
      if (key === undefined) throw new Unreadable();
      this.#need("=");
      return [key, this.#value()];
    });
    return { id: "", name, arguments: JSON.stringify(Object.fromEntries(entries)) };
  }

  #value(): Json {
    if (this.#take("[")) return this.#list("]", () => this.#value());
    if (this.#take("{")) return this.#object();
    const word = this.#match(/True|False|None|true|false|null/y);
    if (word !== undefined) return WORDS[word.toLowerCase()] as Json;
    const number = this.#match(/-?\d+(\.\d+)?([eE][+-]?\d+)?/y);
    if (number !== undefined) return Number(number);
    const quoted = this.#match(/"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'/y);
    if (quoted === undefined) throw new Unreadable();
    return unquote(quoted);
  }

  #object(): JsonObject {
    const entries = this.#list("}", (): [string, Json] => {
      const key = this.#value();
      this.#need(":");
      return [String(key), this.#value()];
    });
    return Object.fromEntries(entries);
  }

  #list<T>(close: string, read: () => T): T[] {
    const items: T[] = [];
    while (!this.#take(close)) {
      if (items.length > 0) this.#need(",");
      if (this.#take(close)) break;
      items.push(read());
    }
    return items;
  }

  #take(character: string): boolean {
    this.at = skipSpace(this.#text, this.at);
    if (this.#text[this.at] !== character) return false;
    this.at++;
    return true;
  }

  #need(character: string): void {
    if (!this.#take(character)) throw new Unreadable();
  }

  #match(pattern: RegExp): string | undefined {
    if (!pattern.source.startsWith("\\s")) this.at = skipSpace(this.#text, this.at);
    pattern.lastIndex = this.at;
    const match = pattern.exec(this.#text)?.[0];
    this.at += match?.length ?? 0;
    return match;
  }
}

const WORDS: { [word: string]: Json } = { true: true, false: false, none: null, null: null };
const ESCAPES: { [letter: string]: string } = { n: "\n", t: "\t", r: "\r", "0": "\0" };

function unquote(quoted: string): string {
  return quoted.slice(1, -1).replace(/\\(u[\da-fA-F]{4}|.)/g, (_, code: string) => {
    if (code.length === 5) return String.fromCharCode(Number.parseInt(code.slice(1), 16));
    return ESCAPES[code] ?? code;
  });
}
