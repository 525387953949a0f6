// What the checks found, each with the messages that show it.
import { isObject, type Json, type JsonObject } from "../../core/index.ts";
import type { ScoreRecord } from "../../scoring/index.ts";
import type { CheckView, Finding, Moment } from "../api.ts";

const MAX_FINDINGS = 20;
/** Lists of what was expected, of words that the reason explains, and of places. */
const NOT_FINDINGS = ["facts", "kinds", "at"];

export function toCheckView(result: ScoreRecord, moments: readonly Moment[]): CheckView {
  const { check, pass, score, reason, blame, guards, details } = result;
  const findings = isObject(details) ? findingsIn(details as JsonObject, reason, moments) : [];
  const own = isObject(details) && Array.isArray(details.at) ? details.at.filter(isPlace) : [];
  const all = [...own, ...findings.flatMap(({ message }) => message ?? [])];
  const messages = [...new Set(all)].filter((at) => at < countMessages(moments)).sort((a, b) => a - b);
  const told = pass === true ? [] : findings.filter(({ text, message }) => message !== undefined || text !== "");
  return { check, pass, score, reason, blame, guards, messages, findings: told.slice(0, MAX_FINDINGS) };
}

/** What the reason says already is not said again. */
function findingsIn(details: JsonObject, reason: string, moments: readonly Moment[]): Finding[] {
  return Object.entries(details).flatMap(([kind, items]) =>
    Array.isArray(items) && !NOT_FINDINGS.includes(kind)
      ? items.map((item) => {
          const text = describe(item);
          return { text: reason.includes(text) ? "" : `${kind}: ${text}`, message: placeOf(item, moments) };
        })
      : [],
  );
}

function describe(item: Json): string {
  if (Array.isArray(item)) return item.map(toText).join(" or ");
  if (!isObject(item)) return toText(item);
  const { at: _at, ...members } = item as JsonObject;
  return Object.values(members)
    .map(toText)
    .join("name" in item && "arguments" in item ? " " : ": ");
}

function toText(value: Json): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** As the check says; results of earlier versions quote a sentence of the agent's instead. */
function placeOf(item: Json, moments: readonly Moment[]): number | undefined {
  if (!isObject(item)) return undefined;
  if (isPlace(item.at)) return item.at;
  const { sentence } = item;
  if (typeof sentence !== "string" || sentence === "") return undefined;
  return moments.find(({ by, text }) => by === "agent" && text?.text.includes(sentence))?.message;
}

function isPlace(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function countMessages(moments: readonly Moment[]): number {
  let count = 0;
  for (const { message, calls } of moments)
    for (const at of [message, ...calls.map(({ result }) => result?.message)])
      if (at !== undefined) count = Math.max(count, at + 1);
  return count;
}
