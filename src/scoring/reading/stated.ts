// Amounts, dates, times, counts and identifiers that a text states, held against a text that holds all that is known.
import { isObject, type Json, parseJson } from "../../core/index.ts";
import { identifiersIn, numbersIn } from "../values.ts";
import { isQuestion, plainText, sentencesOf } from "./sentences.ts";

export class Known {
  #text = "";
  readonly #runs = new Set<string>();
  readonly #numbers = new Set<number>();
  readonly #dates = new Set<string>();
  readonly #times = new Set<number>();
  /** numbers under one key of one result: what a total adds up */
  readonly #columns: number[][] = [];
  #longestList = 0;

  add(text: string): void {
    const plain = plainText(text);
    this.#text += `\n${plain.toLowerCase()}`;
    for (const [run] of plain.matchAll(/\d+/g)) this.#runs.add(String(Number(run)));
    for (const number of numbersIn(plain)) this.#numbers.add(number);
    for (const [, digits] of plain.matchAll(/(?<![\w.])-?\$?(\d[\d,]*\.\d+)/g))
      this.#numbers.add(Number(String(digits).replaceAll(",", "")));
    for (const date of datesIn(plain)) this.#dates.add(date);
    for (const time of timesIn(plain)) this.#times.add(time);
  }

  addResult(content: string): void {
    this.add(content);
    this.#addValue(parseJson(content) as Json | undefined);
  }

  #addValue(value: Json | undefined): void {
    if (Array.isArray(value)) {
      this.#longestList = Math.max(this.#longestList, value.length);
      const keys = new Set(value.flatMap((item) => (isObject(item) ? Object.keys(item) : [])));
      for (const key of keys) {
        const column = value.flatMap((item) =>
          isObject(item) && typeof item[key] === "number" ? [item[key] as number] : [],
        );
        if (column.length > 1) this.#columns.push(column.slice(0, MAX_COLUMN));
      }
      for (const item of value) this.#addValue(item);
    } else if (isObject(value)) {
      const own = Object.values(value).filter((member): member is number => typeof member === "number");
      if (own.length > 1) this.#columns.push(own.slice(0, MAX_COLUMN));
      for (const member of Object.values(value)) {
        if (typeof member === "number") this.#numbers.add(member);
        else this.#addValue(member as Json);
      }
    }
  }

  hasIdentifier(value: string): boolean {
    if (this.#text.includes(value.toLowerCase())) return true;
    const squeeze = (text: string) => text.toLowerCase().replace(/[^\p{L}\d]/gu, "");
    return squeeze(this.#text).includes(squeeze(value));
  }

  hasDate(date: string): boolean {
    return (
      this.#dates.has(date) || this.#dates.has(date.slice(-5)) || [...this.#dates].some((known) => known.endsWith(date))
    );
  }

  hasTime(minutes: number): boolean {
    if (this.#times.has(minutes) || this.#times.has((minutes + 720) % 1440)) return true;
    return [...this.#times].some((known) =>
      LENGTHS.some((length) => (known + length) % 1440 === minutes && this.#runs.has(String(length))),
    );
  }

  /** `beside`: the other numbers of the same message, which a computed one may be explained by. */
  hasNumber(value: number, beside: readonly number[], isRounded: boolean): boolean {
    const near = (number: number) =>
      Math.abs(number - value) < (isRounded ? Math.max(0.5, Math.abs(value) * 0.06) : 0.006);
    if (this.#runs.has(String(value)) || [...this.#numbers].some(near)) return true;
    if (Number.isInteger(value) && value >= 0 && value <= this.#longestList) return true;
    if (this.#columns.some((column) => sumsOf(column).some(near))) return true;
    const known = [...this.#numbers];
    const told = beside.filter((number) => number !== value);
    const percents = known.filter((number) => number > 0 && number <= 100);
    if (told.length > 1 && sumsOf(told.slice(0, MAX_COLUMN)).some(near)) return true;
    for (const one of told) {
      if (known.some((other) => near(one + other) || near(one - other) || near(other - one))) return true;
      if (
        percents.some(
          (percent) =>
            near((one * percent) / 100) || near(one * (1 + percent / 100)) || near(one * (1 - percent / 100)),
        )
      )
        return true;
      if (SMALL.some((times) => near(one * times) || near(one / times))) return true;
    }
    // a fee in percent on an amount that is known
    return known.some(
      (amount) =>
        amount >= 10 &&
        percents.some(
          (percent) => percent <= 10 && (near((amount * percent) / 100) || near(amount * (1 + percent / 100))),
        ),
    );
  }
}

const MAX_COLUMN = 12;
const SMALL = [2, 3, 4, 5, 6, 7, 8, 9, 10, 12];
const LENGTHS = [15, 20, 25, 30, 40, 45, 50, 60, 75, 90, 120];

/** Of every part of the column with at least two members. */
function sumsOf(column: readonly number[]): number[] {
  let sums = [0];
  for (const number of column) sums = [...sums, ...sums.map((sum) => sum + number)].slice(0, 4096);
  return sums.slice(1);
}

export type Unfounded = { value: string; sentence: string };

/** What the text states as a fact and nothing known bears out. */
export function findUnfounded(text: string, known: Known): Unfounded[] {
  const message = plainText(text);
  const beside = numbersIn(message.replaceAll("$", ""));
  return sentencesOf(message).flatMap((sentence) => {
    if (EXAMPLE.test(sentence) || (isQuestion(sentence) && UNSURE.test(sentence))) return [];
    const found = (value: string) => ({ value, sentence });
    const dates = datesWithText(sentence).filter(({ date }) => !known.hasDate(date) && !RELATIVE.test(sentence));
    const times = timesWithText(sentence).filter(({ minutes }) => !known.hasTime(minutes));
    const identifiers = [...identifiersIn(sentence), ...phonesIn(sentence)].filter(
      (value) => !known.hasIdentifier(value) && datesIn(value).length === 0 && !GENERAL.has(value),
    );
    const isRounded = ROUNDED.test(sentence);
    const rest = cutOut(sentence);
    const numbers = statedNumbers(rest).filter(({ value }) => !known.hasNumber(value, beside, isRounded));
    return [
      ...dates.map(({ text: written }) => found(written)),
      ...times.map(({ text: written }) => found(written)),
      ...identifiers.map(found),
      ...numbers.map(({ text: written }) => found(written)),
    ];
  });
}

const EXAMPLE = /\b(?:e\.g\.|for example|for instance|such as|in the form|format|like this|YYYY|looks like)\b/iu;
const UNSURE =
  /\b(?:did you mean|do you mean|is (?:it|that|this) (?:really )?|was it|could it be|you said|are you sure|or is it)\b/iu;
const RELATIVE =
  /\b(?:tomorrow|yesterday|within|in (?:a|one|two|three|\d+) (?:business |working )?(?:days?|weeks?|months?)|next week|a week|business days|working days|days? (?:from|after|before)|the day (?:after|before))\b/iu;
const ROUNDED =
  /\b(?:about|around|roughly|approximately|approx\.?|nearly|almost|just (?:over|under)|close to|some|circa)\b|~/iu;
const GENERAL = new Set(["911", "112", "988", "24/7"]);

/** Without dates, times, identifiers, list numbers and phrases whose digits say nothing. */
function cutOut(sentence: string): string {
  let rest = sentence
    .replace(/^\s*(?:[-*•]\s*)?(?:step\s+)?\(?\d{1,2}[.):]\s+/i, " ")
    .replace(/\b24\/7\b|\b100 ?%|\b911\b|\b988\b|#\d+\b/g, " ");
  for (const { text } of [...datesWithText(rest), ...timesWithText(rest)]) rest = rest.replace(text, " ");
  for (const value of [...identifiersIn(rest), ...phonesIn(rest)]) rest = rest.replace(value, " ");
  return rest;
}

const UNITS =
  "(?:%|percent|dollars?|usd|bucks|cents|credits?|credit hours|hours?|minutes?|mins?|days?|business days|working days|weeks?|months?|seats?|spots?|places?|copies|instal?l?ments?|points?|doses?|refills?|people|students?|slots?|times|miles|pages?|attempts?)";

/** Amounts and measures at any size, other numbers from ten on. */
function statedNumbers(text: string): { value: number; text: string }[] {
  const found = [
    ...text.matchAll(
      new RegExp(
        `([$€£]\\s?)?(?<![\\p{L}\\d_]|[\\p{L}\\d][-.:/])(\\d{1,3}(?:,\\d{3})+|\\d+)(\\.\\d+)?(\\s?${UNITS}\\b|\\s?%)?`,
        "giu",
      ),
    ),
  ];
  return found.flatMap(([written, currency, digits, decimals = "", unit]) => {
    const value = Number(`${String(digits).replaceAll(",", "")}${decimals}`);
    const isMeasured = currency !== undefined || unit !== undefined || decimals !== "";
    if (value === 0 || (!isMeasured && value < 10)) return [];
    if (isMeasured && currency === undefined && value < 3 && decimals === "") return [];
    return [{ value, text: written.trim() }];
  });
}

const MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split(" ");
const MONTH =
  "(jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\\.?";
const DATE_FORMS: [RegExp, (match: RegExpMatchArray) => string][] = [
  [/(?<!\d)(\d{4})-(\d{2})-(\d{2})(?!\d)/g, ([, , month, day]) => `${month}-${day}`],
  [
    new RegExp(`\\b${MONTH}\\s+(\\d{1,2})(?:st|nd|rd|th)?\\b(?![:.]?\\d|\\s?%)`, "gi"),
    ([, month, day]) => monthDay(month, day),
  ],
  [
    new RegExp(`\\b(\\d{1,2})(?:st|nd|rd|th)?(?:\\s+of)?\\s+${MONTH}(?=$|[\\s,.;:!?)])`, "gi"),
    ([, day, month]) => monthDay(month, day),
  ],
  [/(\d{1,2})月(\d{1,2})[日号]/g, ([, month, day]) => `${two(month)}-${two(day)}`],
  [/(?<![\d/.-])(\d{1,2})\/(\d{1,2})(?:\/(?:\d{4}|\d{2}))?(?![\d/])/g, ([, month, day]) => `${two(month)}-${two(day)}`],
  [/(?<![\d/.-])(\d{1,2})\.(\d{1,2})\.(?:\d{4}|\d{2})?(?!\d)/g, ([, day, month]) => `${two(month)}-${two(day)}`],
];

function monthDay(month: string | undefined, day: string | undefined): string {
  return `${two(String(MONTHS.indexOf(String(month).slice(0, 3).toLowerCase()) + 1))}-${two(day)}`;
}

function two(text: string | undefined): string {
  return String(text).padStart(2, "0");
}

function datesWithText(text: string): { date: string; text: string }[] {
  return DATE_FORMS.flatMap(([pattern, read]) =>
    [...text.matchAll(pattern)].map((match) => ({ date: read(match), text: match[0] })),
  ).filter(({ date }) => /^(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$/.test(date));
}

function datesIn(text: string): string[] {
  return datesWithText(text).map(({ date }) => date);
}

const TIME =
  /(?<![\d:.$])(?:T)?([01]?\d|2[0-3]):([0-5]\d)(?::\d{2})?\s*(a\.?m\.?|p\.?m\.?)?(?![\d:])|(?<![\d:.$-])(1[0-2]|[1-9])\s*(a\.?m\.?|p\.?m\.?)(?![\p{L}\d])/giu;

function timesWithText(text: string): { minutes: number; text: string }[] {
  return [...text.matchAll(TIME)].map(([written, hour, minute, half, bareHour, bareHalf]) => {
    const which = (half ?? bareHalf ?? "").toLowerCase();
    let hours = Number(hour ?? bareHour);
    if (which.startsWith("p") && hours < 12) hours += 12;
    if (which.startsWith("a") && hours === 12) hours = 0;
    return { minutes: hours * 60 + Number(minute ?? 0), text: written };
  });
}

function timesIn(text: string): number[] {
  return timesWithText(text).map(({ minutes }) => minutes);
}

function phonesIn(text: string): string[] {
  return [...text.matchAll(/(?<![\w-])(?:\+?\d{1,2}[ .-])?(?:\(\d{3}\)\s?|\d{3}[ .-])?\d{3}[ .-]\d{4}(?![\w-])/g)].map(
    ([phone]) => phone,
  );
}
