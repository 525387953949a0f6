// Tool calls in a text: which there are, and whether a text is one in disguise.
import type { ToolCall, ToolSpec } from "../../core/index.ts";
import { type Form, LEFTOVERS, MARKED, UNMARKED } from "./forms.ts";
import { isCallShaped } from "./read-json.ts";

export type TextCalls = {
  calls: ToolCall[];
  /** what the text says besides */
  rest: string;
};

/** The calls to these tools that a text holds, in the first form that fits: a model that mixes forms is quoting one. */
export function findTextCalls(text: string, tools: readonly ToolSpec[]): TextCalls | undefined {
  const names = new Set(tools.map(({ name }) => name));
  if (names.size === 0 || text.length > MAX_TEXT) return undefined;
  // a mark is a call even if one of several names is wrong: the tools will say so
  return (
    readForms(text, MARKED, tools, (calls) => calls.some(({ name }) => names.has(name))) ??
    readForms(text, UNMARKED, tools, (calls) => calls.every(({ name }) => names.has(name)))
  );
}

function readForms(
  text: string,
  forms: readonly Form[],
  tools: readonly ToolSpec[],
  isKnown: (calls: ToolCall[]) => boolean,
): TextCalls | undefined {
  for (const form of forms) {
    const places = placeCalls(text, form, tools);
    const calls = places.flatMap((place) => place.calls);
    if (calls.length === 0 || !isKnown(calls)) continue;
    const gaps = places.map(({ start }, index) => text.slice(places[index - 1]?.end ?? 0, start));
    const rest = gaps.join("") + text.slice(places.at(-1)?.end);
    return { calls, rest: rest.replace(LEFTOVERS, "").trim() };
  }
  return undefined;
}

export type Place = { calls: ToolCall[]; start: number; end: number };

/** Where in a text the calls of one form are. */
export function placeCalls(text: string, { opens, read }: Form, tools: readonly ToolSpec[]): Place[] {
  const places: Place[] = [];
  let misses = 0;
  for (const match of text.matchAll(opens)) {
    if (match.index < (places.at(-1)?.end ?? 0)) continue; // inside the last one
    const found = read({ text, match, at: match.index + match[0].length, tools });
    if (!found && ++misses > MAX_MISSES) break;
    if (places.length >= MAX_PLACES) break;
    if (!found) continue;
    const calls = found.calls.map((call) => ({ ...call, name: call.name.replace(/^functions\./, "") }));
    places.push({ calls, start: match.index, end: found.end });
  }
  return places;
}

/** Longer texts are no calls, and searching them could take long; as could one with many marks and no calls. */
const MAX_TEXT = 1_000_000;
const MAX_MISSES = 16;
const MAX_PLACES = 256;

/** What nobody says to a person: the mark of a call, or JSON that is one, whether or not there is such a tool. */
const DISGUISES = new RegExp(
  [
    "<tool_call>\\s*[{<\\[]|<tool_call>\\s*[\\w.-]+\\s*<(?:arg_key|/tool_call)>",
    "<function=[\\w.:\"'-]+>|\\[TOOL_CALLS\\]\\s*[\\w{\\[]|<\\|python_tag\\|>|<\\|tool_call_start\\|>",
    "<[｜|]tool[▁_]calls?[▁_]begin[｜|]>|<\\|tool_calls?_(?:section_)?begin\\|>",
    '\\bto=functions\\.[\\w.-]+|<(?:｜DSML｜|\\w+:)?invoke name="',
  ].join("|"),
);

/** Whether a text is a tool call, in part or as a whole, that the server did not recognise as one. */
export function isTextCall(text: string, tools: readonly ToolSpec[]): boolean {
  if (!/[<[{(]/.test(text)) return false; // most of what is said
  if (DISGUISES.test(text) || findTextCalls(text, tools)) return true;
  const [, fenced] = /^```[\w-]*\s*\n([\s\S]*?)\n?```$/.exec(text.trim()) ?? [];
  return isCallShaped(fenced ?? text.trim());
}
