// Whether an answer is the known one: equal text, number, date, yes or no, all of a list, or a sentence that states it
// and nothing else. In doubt it is not: a judge can decide the rest.
import { type Json, parseJson, writeExact } from "../../core/index.ts";
import { cleanAnswer, foldAnswer } from "./clean-answer.ts";
import { covers, readDate } from "./dates.ts";
import { readQuantity, sameQuantity } from "./quantities.ts";
import { statesAnswer } from "./states-answer.ts";

export type Match = "exact" | "numeric" | "date" | "set" | "stated";

/** `answer` as it is wanted (of a list, all of it), or any one of `answers`. */
export type KnownAnswer = { answer?: Json; answers?: Json };

/** The answers of which each is right; empty if none is known. */
export function acceptedAnswers({ answer, answers }: KnownAnswer): Json[] {
  const all = [answer, ...(Array.isArray(answers) ? answers : [answers])];
  return all.flatMap((one) => (isKnown(one) ? [one as Json] : []));
}

function isKnown(answer: Json | undefined): boolean {
  if (answer === undefined || answer === null) return false;
  return Array.isArray(answer) ? answer.length > 0 : typeof answer !== "string" || answer.trim() !== "";
}

/** A text so much longer than the answer says more than that. */
const MOST = 4000;

export function matchAnswer(given: string, known: KnownAnswer, question = ""): Match | undefined {
  for (const expected of acceptedAnswers(known)) {
    if (given.length > MOST + 4 * textOf(expected).length) continue;
    const match = Array.isArray(expected)
      ? matchSet(given, expected.map(textOf))
      : (matchOne(given, textOf(expected)) ?? (isStated(given, textOf(expected), question) ? "stated" : undefined));
    if (match) return match;
  }
  return undefined;
}

function isStated(given: string, expected: string, question: string): boolean {
  const isSigns = readQuantity(cleanAnswer(expected)) === undefined && isFormula(expected);
  return !isSigns && statesAnswer(given, expected, question);
}

function textOf(value: Json): string {
  return typeof value === "string" ? value : writeExact(value);
}

/** Whether two texts are the same answer as they stand. */
function matchOne(given: string, expected: string): Match | undefined {
  if (isLetter(expected)) return letterOf(given) === expected.trim() ? "exact" : undefined;
  const [said, wanted] = [cleanAnswer(given), cleanAnswer(expected)];
  if (isSame(given, expected) || withoutSpaces(said) === withoutSpaces(wanted)) return "exact";
  const [number, other] = [readQuantity(wanted), readQuantity(resultOf(said))];
  if (number && other && isNumber(expected, number.unit) && sameQuantity(number, other)) return "numeric";
  const [date, day] = [readDate(wanted), readDate(said)];
  return date && day && covers(day, date) ? "date" : undefined;
}

function isSame(given: string, expected: string): boolean {
  const folded = foldAnswer(expected);
  return folded === "" || isFormula(expected) ? false : foldAnswer(given) === folded;
}

/** Of formulas every sign counts. */
function isFormula(text: string): boolean {
  return (
    /[*/^=<>(){}|]|\+(?!\+|$)|^-/.test(text.trim()) &&
    !/\p{L}{4}/u.test(text.replace(/\\?(?:sqrt|frac)/g, "")) &&
    /^[\x20-\x7e]*$/.test(text)
  );
}

function withoutSpaces(text: string): string {
  return text.toLowerCase().replace(/(?<![\p{L}\p{N}])\s+|\s+(?![\p{L}\p{N}])/gu, "");
}

/** What a calculation comes to: 15 of `3 × 5 = 15`. */
function resultOf(text: string): string {
  return /^[^=\n?]*[^=!<>≠\n?]=\s*([^=\n?]+)$/.exec(text)?.[1] ?? text;
}

/** "10 Downing Street" begins with a number and is none. */
function isNumber(text: string, unit: string): boolean {
  return unit === "" || !/\d\s+\p{Lu}\p{Ll}/u.test(text);
}

function isLetter(text: string): boolean {
  return /^\s*\p{Lu}\s*$/u.test(text);
}

/** The option that a reply chooses: `B`, `(B)`, `**B**`, `B. Paris`, `B) Paris`. */
function letterOf(given: string): string | undefined {
  return /^\(?(?:option |choice )?(\p{Lu})(?:$|[).:](?:\s|$))/iu.exec(cleanAnswer(given))?.[1]?.toUpperCase();
}

/** All of them and no other, in any order; as a list, or as a sentence that ends with one. */
function matchSet(given: string, wanted: string[]): Match | undefined {
  const list = parseJson(given);
  const said = Array.isArray(list) ? list.map((item) => String(item)).join("\n") : given;
  const unmarked = cleanAnswer(said).replace(/^[^\S\n]*(?:[-*•·]|\d{1,3}[.)])[^\S\n]+/gm, "");
  const tail = /^[^\n]*?(?:\b(?:are|is|were|was|include|includes)\b|[:：]|是|有|包括)\s*([\s\S]+)$/i.exec(
    unmarked,
  )?.[1];
  const texts = tail === undefined || /\b(?:not|n't|never)\b|不/.test(unmarked) ? [unmarked] : [unmarked, tail];
  return texts.some((text) => isListOf(text, wanted)) ? "set" : undefined;
}

const SEPARATORS = /[,;\n、，；]|\s(?:and|&)\s|以及|和|与/;

function isListOf(text: string, wanted: string[]): boolean {
  const items = text
    .split(SEPARATORS)
    .map((item) => item.trim().replace(/^(?:and|&) /i, ""))
    .filter((item) => foldAnswer(item) !== "");
  const distinct = [...new Set(wanted.map(foldAnswer))].map(
    (folded) => wanted.find((one) => foldAnswer(one) === folded) as string,
  );
  const left = distinct.filter((one) => {
    const at = items.findIndex((item) => matchOne(item, one));
    if (at === -1) return true;
    for (let index = items.length - 1; index >= 0; index--)
      if (matchOne(items[index] as string, one)) items.splice(index, 1);
    return false;
  });
  if (left.length === 0 && items.length === 0) return true;
  // some may hold a separator themselves: Trinidad and Tobago
  let rest = ` ${foldAnswer(text)} `;
  for (const one of distinct.map(foldAnswer).sort((a, b) => b.length - a.length)) {
    if (!rest.includes(` ${one} `)) return false;
    rest = rest.replaceAll(` ${one} `, "  ");
  }
  return /^(?:\s|and)*$/.test(rest);
}
