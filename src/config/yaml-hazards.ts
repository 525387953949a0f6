// What YAML allows and a config must not have: it would be read as something else than it looks like, or never end.
import { type Alias, type Document, isAlias, isCollection, isPair, isScalar, type Node, type Pair } from "yaml";
import { MAX_JSON_DEPTH } from "../core/index.ts";

/** The first such thing, and its offset in the text. */
export type Hazard = { problem: string; offset: number };

export function findHazard(document: Document.Parsed): Hazard | undefined {
  const [warning] = document.warnings;
  if (warning) return { problem: `${warning.message}; tags and directives are not supported`, offset: warning.pos[0] };
  return findIn(document.contents, { document, above: [] });
}

type Place = { document: Document; above: readonly unknown[] };

function findIn(node: unknown, place: Place): Hazard | undefined {
  const problem = problemOf(node, place);
  if (problem) return { problem, offset: offsetOf(node) };
  if (!isCollection(node)) return undefined;
  const inside = { ...place, above: [...place.above, node] };
  const keys = new Set<string>();
  for (const item of node.items) {
    const hazard = isPair(item) ? (findInKey(item, keys) ?? findIn(item.value, inside)) : findIn(item, inside);
    if (hazard) return hazard;
  }
  return undefined;
}

function problemOf(node: unknown, { document, above }: Place): string | undefined {
  if (above.length > MAX_JSON_DEPTH) return TOO_DEEP;
  if (isAlias(node)) return aliasProblem(node, node.resolve(document), above);
  if (!isScalar(node)) return undefined;
  if (typeof node.value === "number" && !Number.isFinite(node.value))
    return `${node.source} cannot be used: numbers must be finite`;
  if (typeof node.value === "string" && node.value.includes("\0")) return "there is a NUL character in this text";
  return undefined;
}

export const TOO_DEEP = `this is nested deeper than ${MAX_JSON_DEPTH} levels`;

function aliasProblem({ source }: Alias, target: Node | undefined, above: readonly unknown[]): string | undefined {
  if (!target) return `*${source} names nothing: there is no &${source} before it`;
  return above.includes(target) ? `*${source} stands inside of what it names, so it would never end` : undefined;
}

/** A key is a text, or a number that is the same as a text; each occurs once. */
function findInKey({ key }: Pair, keys: Set<string>): Hazard | undefined {
  const text = isScalar(key) ? String(key.value) : undefined;
  const offset = offsetOf(key);
  if (!isScalar(key) || text === undefined) return { problem: "a key must be a text", offset };
  if (typeof key.value !== "string" && text !== key.source)
    return { problem: `the key ${key.source || "here"} must be a text: write it in quotes`, offset };
  if (text === "__proto__") return { problem: '"__proto__" cannot be used as a name here', offset };
  if (text === "<<") return { problem: "merging with << is not supported: write the keys out", offset };
  if (keys.has(text)) return { problem: "this key stands here for the second time", offset };
  keys.add(text);
  return undefined;
}

function offsetOf(node: unknown): number {
  return isScalar(node) || isCollection(node) || isAlias(node) ? (node.range?.[0] ?? 0) : 0;
}

/** Far beyond what is allowed, and far below where the parser, which is recursive, takes the process with it. */
const MAX_UNREAD_DEPTH = 256;

/**
 * Where a text may be nested much too deep, seen from indentation, leading dashes and brackets alone. Brackets in texts
 * count as well: hundreds that are never closed are no text that anyone writes.
 */
export function findTooDeepYaml(text: string): number | undefined {
  const indents: number[] = [];
  let brackets = 0;
  for (const line of text.matchAll(/^( *)((?:[-?:][ \t]+)*)(.*)$/gm)) {
    const [, spaces = "", marks = "", rest = ""] = line;
    if (rest === "" || rest.startsWith("#")) continue;
    while (indents.length > 0 && (indents.at(-1) as number) >= spaces.length) indents.pop();
    indents.push(spaces.length);
    if (indents.length + marks.split(/[ \t]+/).length > MAX_UNREAD_DEPTH) return line.index;
    for (const { 0: bracket, index } of rest.matchAll(/[[\]{}]/g)) {
      brackets = Math.max(0, brackets + (bracket === "[" || bracket === "{" ? 1 : -1));
      if (brackets > MAX_UNREAD_DEPTH) return line.index + spaces.length + marks.length + index;
    }
  }
  return undefined;
}

/** Where the last alias is: at the latest there, a file with too many of them has grown too large. */
export function lastAlias(node: unknown): number | undefined {
  if (isAlias(node)) return offsetOf(node);
  if (!isCollection(node)) return undefined;
  for (const item of [...node.items].reverse()) {
    const found = lastAlias(isPair(item) ? item.value : item);
    if (found !== undefined) return found;
  }
  return undefined;
}
