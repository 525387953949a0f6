// JSON as people edit it: if it is broken, the error gives the line and column, no matter what the engine's own message
// reveals.
import { readFileSync } from "node:fs";
import { findTooDeep, type Location, MAX_JSON_DEPTH, messageOf, UsageError, withExactNumbers } from "../core/index.ts";

export function readJson(file: string): unknown {
  return parseJsonAt(readFileSync(file, "utf8"), { file });
}

/** With every number as it is written. */
export function readExactJson(file: string): unknown {
  const text = readFileSync(file, "utf8");
  return withExactNumbers(parseJsonAt(text, { file }), text);
}

/** `location.line` is where the text begins in its file; the first line by default. */
export function parseJsonAt(text: string, location: Location): unknown {
  const body = text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
  const tooDeep = findTooDeep(body);
  if (tooDeep !== undefined)
    throw new UsageError(`is nested deeper than ${MAX_JSON_DEPTH} levels`, placeIn(body, tooDeep, location));
  try {
    return JSON.parse(body);
  } catch (error) {
    throw new UsageError(`is not valid JSON: ${reasonOf(error)}`, placeIn(body, faultIn(body), location));
  }
}

/** `location.line` is where the text begins in its file. */
export function placeIn(text: string, offset: number, { file, line = 1 }: Location): Location {
  const before = text.slice(0, offset).split("\n");
  return { file, line: line + before.length - 1, column: (before.at(-1) as string).length + 1 };
}

/** The engine's message without the position and the piece of text that only some messages have. */
function reasonOf(error: unknown): string {
  return messageOf(error).replace(/( in JSON)? at position [\s\S]*$|, (\.\.\.)?"[\s\S]*$/, "");
}

const SPACE = /[ \t\n\r]*/y;
const STRING = /"(?:[^"\\\p{Cc}]|\u007f|[\u0080-\u009f]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*"/uy;
const SCALAR = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;

/** Where a text stops being JSON: the offset of the first unexpected token. */
function faultIn(text: string): number {
  const open: ("}" | "]")[] = [];
  let at = 0;
  let next: "value" | "first value" | "key" | "first key" | "separator" = "value";
  const take = (pattern: RegExp): boolean => {
    pattern.lastIndex = at;
    const found = pattern.test(text);
    if (found) at = pattern.lastIndex;
    return found;
  };
  const takeCharacter = (character: string | undefined): boolean => {
    const found = text[at] === character;
    if (found) at++;
    return found;
  };
  for (;;) {
    take(SPACE);
    if (next !== "key" && next !== "value" && open.length > 0 && takeCharacter(open.at(-1))) {
      open.pop();
      next = "separator";
    } else if (next === "separator") {
      if (open.length === 0 || !takeCharacter(",")) return at;
      next = open.at(-1) === "}" ? "key" : "value";
    } else if (next === "key" || next === "first key") {
      if (!take(STRING)) return at;
      take(SPACE);
      if (!takeCharacter(":")) return at;
      next = "value";
    } else if (takeCharacter("{")) {
      open.push("}");
      next = "first key";
    } else if (takeCharacter("[")) {
      open.push("]");
      next = "first value";
    } else if (take(STRING) || take(SCALAR)) next = "separator";
    else return at;
  }
}
