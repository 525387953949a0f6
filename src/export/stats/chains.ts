// How far calls build on each other: a call depends on an earlier one if an argument of it first appeared in that one's
// result. A call that depends on none has the length 1.
import { isObject, type Json, parseJson, type TrajectoryMessage } from "../../core/index.ts";
import { occurs, tells } from "../../scoring/index.ts";
import { parseArguments } from "../training-dialogue.ts";

/** What has been seen so far: words, the arguments of calls, and results, which have the length of their call's chain. */
type Piece = { kind: "words" | "values"; text: string; length?: number };

/** The most calls in a row of which each takes a value from the result of the one before; 0 without calls. */
export function longestChain(system: string | undefined, messages: readonly TrajectoryMessage[]): number {
  const seen: Piece[] = system === undefined ? [] : [{ kind: "values", text: system.toLowerCase() }];
  const lengths = new Map<string, number>();
  const found = new Map<string | number, number>();
  let longest = 0;
  for (const message of messages) {
    if (message.role === "tool") {
      const text = [...textsOf(parseJson(message.content) ?? message.content)].join("\n").toLowerCase();
      seen.push({ kind: "values", text, length: lengths.get(message.tool_call_id) });
      continue;
    }
    seen.push({ kind: "words", text: message.content });
    if (message.role === "user") continue;
    const calls = (message.tool_calls ?? []).map(({ id, function: call }) => {
      const given = [...leavesOf(parseArguments(call.arguments) ?? {})];
      const length = 1 + Math.max(0, ...given.filter(isTraceable).map((value) => sourceLength(seen, value, found)));
      return { id, length, text: given.join("\n").toLowerCase() };
    });
    for (const { id, length, text } of calls) {
      lengths.set(id, length);
      longest = Math.max(longest, length);
      seen.push({ kind: "values", text });
    }
  }
  return longest;
}

/** The chain's length at the result in which a value first appeared; 0 if no result was first. */
function sourceLength(seen: readonly Piece[], value: string | number, found: Map<string | number, number>): number {
  const known = found.get(value);
  if (known !== undefined) return known;
  const source = seen.findIndex(({ text, length }) => length !== undefined && holds(text, value));
  if (source === -1) return 0;
  const isOlder = seen
    .slice(0, source)
    .some(({ kind, text }) => (kind === "words" ? tells(text, value) : holds(text, value)));
  const length = isOlder ? 0 : (seen[source]?.length ?? 0);
  found.set(value, length);
  return length;
}

/** `values` are in lower case, so that most texts are passed over quickly. */
function holds(values: string, value: string | number): boolean {
  const written = String(value).toLowerCase();
  return values.includes(written) && occurs(values, written);
}

/** Ids, dates, amounts, addresses: not small numbers, which turn up by chance, and not plain words. */
function isTraceable(value: Json): value is string | number {
  if (typeof value !== "number" && typeof value !== "string") return false;
  const text = String(value);
  if (text.length > 200 || /\s/.test(text)) return false;
  if (text.replace(/\D/g, "").length >= 4) return true;
  return (/\d/.test(text) && /\p{L}/u.test(text)) || /^\S+@\S+\.\S+$|^[A-Z]{2,8}(?:-[A-Z0-9]+)+$/.test(text);
}

function* leavesOf(value: Json): Generator<Json> {
  if (typeof value !== "object" || value === null) yield value;
  else for (const member of Object.values(value)) yield* leavesOf(member);
}

/** Of a result: its values, and its keys, which are ids in some results. */
function* textsOf(value: unknown): Generator<string> {
  if (typeof value !== "object" || value === null) yield String(value);
  else
    for (const [key, member] of Object.entries(value)) {
      if (isObject(value)) yield key;
      yield* textsOf(member);
    }
}
