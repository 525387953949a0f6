// A reply in the Hermes format. What is in a `<tool_call>` tag is a call, broken or not: the tools answer with what is
// wrong. What follows the last call is dropped, since a model that goes on has made up the result.
import { type FormatFault, isObject, parseJson, type ToolSpec } from "../../core/index.ts";
import { type Place, placeCalls } from "../text-calls/find-calls.ts";
import { type Form, type Found, LEFTOVERS, type Reading, TAGGED } from "../text-calls/forms.ts";
import { memberText, readJsonAt, skipSpace } from "../text-calls/read-json.ts";
import type { TextReply } from "./format.ts";

const OPEN = "<tool_call>";
const CLOSE = "</tool_call>";
const RESULT = "<tool_response>";

export function readHermes(text: string, tools: readonly ToolSpec[]): TextReply {
  const all = placeCalls(text, FORM, tools);
  const cut = findResult(text, all) ?? text.length;
  const places = all.filter(({ end }) => end <= cut);
  const faults: FormatFault[] = [];
  if (cut < text.length) faults.push({ type: "made_up_result", content: text.slice(cut) });
  if (places.length === 0) return { content: text.slice(0, cut).trim(), calls: [], faults };
  const { said, after, isFenced } = readGaps(text.slice(0, cut), places);
  const written = places.map(({ start, end }) => text.slice(start, end));
  if (isFenced || written.some((call) => FENCED.test(call.slice(OPEN.length)))) faults.push({ type: "fenced_call" });
  if (written.some((call) => !call.endsWith(CLOSE) || (hasCode(call, OPEN.length) && !call.includes("</code>"))))
    faults.push({ type: "unclosed_call" });
  if (after !== "") faults.push({ type: "text_after_call", content: after });
  return { content: said, calls: places.flatMap(({ calls }) => calls), faults };
}

/** Where a result begins that no tool gave. */
function findResult(text: string, places: readonly Place[]): number | undefined {
  for (let at = text.indexOf(RESULT); at !== -1; at = text.indexOf(RESULT, at + 1))
    if (!places.some(({ start, end }) => start < at && at < end)) return at;
  return undefined;
}

/** What is said before and between the calls, without the fences of code blocks around them, and what comes after. */
function readGaps(text: string, places: readonly Place[]): { said: string; after: string; isFenced: boolean } {
  const gaps = places.map(({ start }, index) => text.slice(places[index - 1]?.end ?? 0, start));
  gaps.push(text.slice(places.at(-1)?.end));
  const isFenced = gaps.map((gap) => FENCE_BEFORE.test(gap)).with(-1, false);
  const [after = "", ...said] = gaps
    .map((gap, index) => (isFenced[index - 1] ? gap.replace(FENCE_BEHIND, "") : gap))
    .map((gap, index) => (isFenced[index] ? gap.replace(FENCE_BEFORE, "") : gap))
    .map((gap) => gap.replace(LEFTOVERS, "").trim())
    .toReversed();
  return { said: said.toReversed().filter(Boolean).join("\n"), after, isFenced: isFenced.includes(true) };
}

const FENCED = /^\s*```[\w-]*[ \t]*\n/;
const FENCE_BEFORE = /```[\w-]*\s*$/;
const FENCE_BEHIND = /^\s*```/;

const FORM: Form = {
  opens: TAGGED.opens,
  read(reading) {
    const { text } = reading;
    const fence = FENCED.exec(text.slice(reading.at, reading.at + 50))?.[0].length ?? 0;
    const inside = { ...reading, at: reading.at + fence };
    const tagged = TAGGED.read(inside);
    const found = tagged ? withWrittenArguments(inside, tagged) : readBroken(inside);
    return found && fence > 0 ? { ...found, end: found.end + closingFence(text, found.end) } : found;
  },
};

/** As the model wrote them: what goes back to it is what it said. */
function withWrittenArguments({ text, at }: Reading, found: Found): Found {
  const [call] = found.calls;
  if (!call || found.calls.length > 1 || hasCode(text.slice(0, found.end), at)) return found;
  const written = memberText(text, at, "arguments");
  const isObjectText = written?.startsWith("{") && isObject(parseJson(written));
  return isObjectText ? { ...found, calls: [{ ...call, arguments: written as string }] } : found;
}

/** Whether code stands behind the JSON. */
function hasCode(text: string, at: number): boolean {
  const json = text.includes("<code>", at) ? readJsonAt(text, at) : undefined;
  return json !== undefined && text.startsWith("<code>", skipSpace(text, json.end));
}

function closingFence(text: string, end: number): number {
  return /^\s*```\s*(?:<\/tool_call>)?/.exec(text.slice(end))?.[0].length ?? 0;
}

/** The text of the arguments stays as it is, so that it is answered like a native call with such arguments. */
function readBroken({ text, at }: Reading): Found | undefined {
  const next = [OPEN, RESULT].map((mark) => text.indexOf(mark, at)).filter((index) => index !== -1);
  const limit = Math.min(text.length, ...next);
  // the last one: a text in the arguments may hold the tag too
  const close = text.lastIndexOf(CLOSE, limit - CLOSE.length);
  const isClosed = close >= at;
  const end = isClosed ? close : limit;
  const body = text.slice(at, end).trim();
  if (body === "") return undefined;
  const json = readJsonAt(body, 0);
  const [, name = ""] = /["']?name["']?\s*:\s*["']([^"']+)["']/.exec(body) ?? [];
  const [, tail] = /["']?arguments["']?\s*:\s*([\s\S]*)$/.exec(body) ?? [];
  const given = tail?.replace(/\}$/, "").trimEnd();
  // never repaired: arguments that are JSON inside a call that is none are not taken out of it
  const isTaken = given !== undefined && (json !== undefined || !isObject(parseJson(given)));
  return {
    calls: [{ id: "", name, arguments: isTaken ? given : body }],
    end: isClosed ? end + CLOSE.length : end,
  };
}
