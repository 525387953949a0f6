// Dates as answers write them: March 5, 2021 is 2021-03-05 and 2021年3月5日.
import { MONTHS } from "../values.ts";

export type CalendarDate = { year?: number; month?: number; day?: number };

const MONTH =
  "(jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\\.?";
const DAY = "(\\d{1,2})(?:st|nd|rd|th)?";
const YEAR = "(\\d{4})";
const monthNumber = (name: string) => MONTHS.indexOf(name.slice(0, 3).toLowerCase()) + 1;
const DATES: [string, (parts: string[]) => CalendarDate | undefined][] = [
  [
    `${YEAR}-(\\d{1,2})-(\\d{1,2})(?:t[\\d:.z+-]+)?`,
    ([y, m, d]) => ({ year: Number(y), month: Number(m), day: Number(d) }),
  ],
  [`${YEAR}/(\\d{1,2})/(\\d{1,2})`, ([y, m, d]) => ({ year: Number(y), month: Number(m), day: Number(d) })],
  [`${MONTH} ${DAY},? ${YEAR}`, ([m = "", d, y]) => ({ year: Number(y), month: monthNumber(m), day: Number(d) })],
  [
    `${DAY}(?: of)? ${MONTH},? ${YEAR}`,
    ([d, m = "", y]) => ({ year: Number(y), month: monthNumber(m), day: Number(d) }),
  ],
  [`(\\d{1,2})[/.](\\d{1,2})[/.]${YEAR}`, ([a, b, y]) => slashed(Number(a), Number(b), Number(y))],
  [`${YEAR}年(\\d{1,2})月(\\d{1,2})[日号]`, ([y, m, d]) => ({ year: Number(y), month: Number(m), day: Number(d) })],
  [`${YEAR}年(\\d{1,2})月`, ([y, m]) => ({ year: Number(y), month: Number(m) })],
  [`(\\d{1,2})月(\\d{1,2})[日号]`, ([m, d]) => ({ month: Number(m), day: Number(d) })],
  [`${YEAR}年`, ([y]) => ({ year: Number(y) })],
  [`${MONTH},?(?: of)? ${YEAR}`, ([m = "", y]) => ({ year: Number(y), month: monthNumber(m) })],
  [`${MONTH} ${DAY}`, ([m = "", d]) => ({ month: monthNumber(m), day: Number(d) })],
  [`${DAY}(?: of)? ${MONTH}`, ([d, m = ""]) => ({ month: monthNumber(m), day: Number(d) })],
  ["(1\\d{3}|20\\d{2})(?:'?s)?", ([y]) => ({ year: Number(y) })],
];
const DATE_FORMS = DATES.map(([form, read]) => ({
  whole: new RegExp(`^(?:on |in )?(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day,? )?(?:the )?${form}$`, "i"),
  within: new RegExp(`(?<![\\p{L}\\d_.,/-])${form}(?![\\p{L}\\d_/]|[-.,]\\d)`, "giu"),
  han: new RegExp(`(?<![\\d_.,/-])${form}(?![\\d_/]|[-.,]\\d)`, "giu"),
  read,
}));

/** Undefined where day and month cannot be told apart. */
function slashed(a: number, b: number, year: number): CalendarDate | undefined {
  if (a === b || (a <= 12 && b > 12)) return { year, month: a, day: b };
  return a > 12 ? { year, month: b, day: a } : undefined;
}

function isDate({ month = 1, day = 1 }: CalendarDate): boolean {
  return month >= 1 && month <= 12 && day >= 1 && day <= 31;
}

/** A text that is nothing but a date; of decades (1990s), none. */
export function readDate(cleaned: string): CalendarDate | undefined {
  const text = cleaned.replace(/[.。!！,，]+$/, "").trim();
  if (/\ds$/.test(text)) return undefined;
  for (const { whole, read } of DATE_FORMS) {
    const found = whole.exec(text);
    const date = found && read(found.slice(1));
    if (date && isDate(date)) return date;
  }
  return undefined;
}

/** The dates of a text with their places, years among them. */
export function datesIn(cleaned: string): { date: CalendarDate; at: number; end: number }[] {
  let rest = cleaned;
  const found: { date: CalendarDate; at: number; end: number }[] = [];
  for (const { within, han, read } of DATE_FORMS) {
    for (const match of [...rest.matchAll(/\p{Script=Han}/u.test(cleaned) ? han : within)]) {
      const date = /\ds$/.test(match[0]) ? undefined : read(match.slice(1));
      const end = match.index + match[0].length;
      if (!date || !isDate(date)) continue;
      found.push({ date, at: match.index, end });
      rest = rest.slice(0, match.index) + "\u0001".repeat(match[0].length) + rest.slice(end);
    }
  }
  return found.sort((a, b) => a.at - b.at);
}

/** Whether a date says all that another one says. */
export function covers(given: CalendarDate, { year, month, day }: CalendarDate): boolean {
  const same = (own: number | undefined, wanted: number | undefined) => wanted === undefined || own === wanted;
  return same(given.year, year) && same(given.month, month) && same(given.day, day);
}
