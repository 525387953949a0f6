// Numbers that a text states: amounts of money, measures, counts.
import { numbersIn, ONES } from "../values.ts";

const UNITS =
  "(?:%|percent|dollars?|usd|bucks|cents|credits?|credit hours|hours?|minutes?|mins?|days?|business days|working days|weeks?|months?|seats?|spots?|places?|copies|instal?l?ments?|points?|doses?|refills?|people|students?|slots?|times|miles|pages?|attempts?)";

export type Stated = { value: { number: number; isMoney: boolean; isDays: boolean }; text: string };

/** Amounts and measures at any size, other numbers from ten on. */
export function statedNumbers(text: string): Stated[] {
  return [...text.matchAll(STATED)].flatMap(([written, currency, digits, decimals = "", unit = ""]): Stated[] => {
    const number = Number(`${String(digits).replaceAll(",", "")}${decimals}`);
    const isMoney = currency !== undefined || /^\s?(?:dollars?|usd|bucks|cents)/i.test(unit);
    const isMeasured = isMoney || unit !== "" || decimals !== "";
    if (number === 0 || (!isMeasured && number < 10) || (isMeasured && !isMoney && number < 3 && decimals === ""))
      return [];
    return [{ value: { number, isMoney, isDays: /^\s?days?/i.test(unit) }, text: written.trim() }];
  });
}

const STATED = new RegExp(
  `([$€£]\\s?)?(?<![\\p{L}\\d_]|[\\p{L}\\d][-.:/])(\\d{1,3}(?:,\\d{3})+|\\d+)(\\.\\d+)?(\\s?${UNITS}\\b|\\s?%)?`,
  "giu",
);

/** What results count under a key of its own, and so can be held against it. */
const COUNTED = "(seat|spot|credit|refill|cop)(?:s|y|ies)?";
const COUNT = new RegExp(
  `(?<![\\p{L}\\d.,$-])(\\d{1,3}|${ONES.slice(1, 13).join("|")})[ -](?:(?:open|free|more|other|enrolled|spring|fall|official|available|remaining|left)\\s+){0,2}${COUNTED}\\b`,
  "giu",
);

export type Count = { noun: string; number: number; text: string };

/** "17 open seats". */
export function countsIn(text: string): Count[] {
  return [...text.matchAll(COUNT)].flatMap(([written, digits, noun]): Count[] => {
    const number = Number(digits) || numbersIn(String(digits))[0];
    return number === undefined ? [] : [{ noun: nounOf(String(noun)), number, text: written }];
  });
}

/** The one word that results use for it. */
function nounOf(word: string): string {
  return word.toLowerCase() === "spot" ? "seat" : word.toLowerCase();
}
