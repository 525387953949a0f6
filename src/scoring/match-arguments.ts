// Whether a call's arguments are the intended ones: numbers and case with tolerance, free text by its presence,
// ignoring what a domain fills in by itself.
import { canonicalJson, ExactNumber, isObject, type Json, type JsonObject } from "../core/index.ts";
import type { Domain } from "../domains/index.ts";
import type { ReferenceCall } from "./reference.ts";
import { type ActionRules, TOLERANCE } from "./settings.ts";

export type MatchRules = Required<Pick<ActionRules, "ignore" | "free_text" | "case_sensitive" | "tolerance">>;

/** The names of arguments that are not as intended. */
export function wrongArguments(args: JsonObject, reference: ReferenceCall, rules: MatchRules): string[] {
  const names = [...new Set([...Object.keys(reference.arguments), ...Object.keys(args)])];
  return names.filter((name) => {
    if (rules.ignore.includes(name) || reference.open.includes(name)) return false;
    const [is, should] = [args[name], reference.arguments[name]];
    if (should === undefined) return (reference.kind !== "unplayed" || reference.whole === true) && !isNothing(is);
    if (rules.free_text.includes(name)) return typeof should === "string" && !isNothing(should) && isNothing(is);
    return !sameValue(is, should, rules) && !(is === undefined && isNothing(should));
  });
}

/** An argument that means the same as leaving it out. */
function isNothing(value: Json | undefined): boolean {
  return (
    value === undefined ||
    value === null ||
    value === false ||
    value === "" ||
    (Array.isArray(value) && value.length === 0)
  );
}

function sameValue(a: Json | undefined, b: Json | undefined, rules: MatchRules): boolean {
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && sameItems(a, b, rules);
  if (isObject(a) && isObject(b)) {
    const keys = new Set([...Object.keys(a), ...Object.keys(b)]);
    return [...keys].every((key) => sameValue(a[key] as Json, b[key] as Json, rules));
  }
  const numbers = [toNumber(a), toNumber(b)] as const;
  if (numbers[0] !== undefined && numbers[1] !== undefined) return Math.abs(numbers[0] - numbers[1]) <= rules.tolerance;
  if (typeof a === "string" && typeof b === "string") return foldText(a, rules) === foldText(b, rules);
  return canonicalJson(a ?? null) === canonicalJson(b ?? null);
}

/** Lists of plain values are compared as multisets; lists of records keep their order. */
function sameItems(a: Json[], b: Json[], rules: MatchRules): boolean {
  if (b.some((item) => typeof item === "object")) return b.every((item, index) => sameValue(a[index], item, rules));
  const left = [...a];
  return b.every((item) => {
    const at = left.findIndex((other) => sameValue(other, item, rules));
    if (at !== -1) left.splice(at, 1);
    return at !== -1;
  });
}

function toNumber(value: Json | undefined): number | undefined {
  if (typeof value === "number" || (value as unknown) instanceof ExactNumber) return Number(value);
  return typeof value === "string" && /^-?(0|[1-9]\d*)(\.\d+)?$/.test(value.trim()) ? Number(value) : undefined;
}

function foldText(text: string, { case_sensitive }: MatchRules): string {
  const plain = text.normalize("NFKC").replace(/\s+/g, " ").trim();
  return case_sensitive ? plain : plain.toLowerCase();
}

/** Prose, in any wording: `reason`, `summary`, and fields that the domain declares volatile. */
export const FREE_TEXT = [
  "reason",
  "note",
  "notes",
  "summary",
  "comment",
  "comments",
  "message",
  "description",
  "details",
];
const SEARCHES = ["keyword", "keywords", "query", "search", "search_term"];

export function matchRules(rules: ActionRules, domain: Domain): MatchRules {
  const { ignore = [], free_text = [], case_sensitive = false, tolerance = TOLERANCE } = rules;
  const volatile = Object.values(domain.volatile).flat();
  return {
    ignore: [...ignore, "confirm"],
    free_text: [...free_text, ...FREE_TEXT, ...SEARCHES, ...volatile],
    case_sensitive,
    tolerance,
  };
}
