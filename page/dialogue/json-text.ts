// JSON taken apart without changing it: every number and text keeps the characters that it was written with.

export type JsonNode =
  | { source: string; open?: undefined }
  | { source: string; open: "{" | "["; members: { key?: string; node: JsonNode }[] };

/** Deeper ones are shown as they are. */
const MAX_DEPTH = 100;

/** Undefined if the text is not a JSON object or list. */
export function readJsonText(text: string): JsonNode | undefined {
  const start = text.trimStart()[0];
  if (start !== "{" && start !== "[") return undefined;
  try {
    JSON.parse(text);
    return new Reader(text).read(0);
  } catch {
    return undefined;
  }
}

/** Of a text that is known to be JSON. */
class Reader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  read(depth: number): JsonNode {
    if (depth > MAX_DEPTH) throw new Error("too deep");
    this.#skipSpace();
    const start = this.#at;
    const open = this.#text[start];
    if (open !== "{" && open !== "[") return { source: this.#readLeaf() };
    const members: { key?: string; node: JsonNode }[] = [];
    const close = open === "{" ? "}" : "]";
    this.#at++;
    for (this.#skipSpace(); this.#text[this.#at] !== close; this.#skipSpace()) {
      if (this.#text[this.#at] === ",") {
        this.#at++;
        continue;
      }
      if (open === "[") {
        members.push({ node: this.read(depth + 1) });
        continue;
      }
      const key = this.#readLeaf();
      this.#skipSpace();
      this.#at++; // the colon
      members.push({ key, node: this.read(depth + 1) });
    }
    this.#at++;
    return { source: this.#text.slice(start, this.#at), open, members };
  }

  #readLeaf(): string {
    const leaf = this.#text[this.#at] === '"' ? STRING : OTHER;
    leaf.lastIndex = this.#at;
    const [source] = leaf.exec(this.#text) ?? [this.#text[this.#at] ?? ""];
    if (source === "") throw new Error("nothing to read");
    this.#at += source.length;
    return source;
  }

  #skipSpace(): void {
    SPACE.lastIndex = this.#at;
    this.#at += SPACE.exec(this.#text)?.[0].length ?? 0;
  }
}

const STRING = /"[^"\\]*(?:\\.[^"\\]*)*"/y;
const OTHER = /[^\s,:[\]{}"]+/y;
const SPACE = /\s*/y;
