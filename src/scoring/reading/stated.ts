// Amounts, dates, times, counts and identifiers that a text states, held against a text that holds all that is known.
import { isObject, type Json, parseJson } from "../../core/index.ts";
import { identifiersIn, numbersIn } from "../values.ts";
import { isQuestion, plainText, sentencesOf } from "./sentences.ts";

export class Known {
  #text = "";
  readonly #runs = new Set<string>();
  readonly #numbers = new Set<number>();
  /** numbers of results, and those that are written as money */
  readonly #amounts = new Set<number>();
  readonly #dates = new Set<string>();
  readonly #times = new Set<number>();
  /** numbers under one key of one result: what a total adds up */
  readonly #columns: number[][] = [];
  readonly #spans = new Set<string>();
  #longestList = 0;

  add(text: string): void {
    const plain = plainText(text);
    this.#text += `\n${plain.toLowerCase()}`;
    for (const [run] of plain.matchAll(/\d+/g)) this.#runs.add(String(Number(run)));
    for (const number of numbersIn(plain)) this.#numbers.add(number);
    for (const [, digits] of plain.matchAll(/(?<![\w.])-?\$?(\d[\d,]*\.\d+)/g))
      this.#numbers.add(Number(String(digits).replaceAll(",", "")));
    for (const { value } of statedNumbers(plain)) if (value.isMoney) this.#amounts.add(value.number);
    for (const date of datesIn(plain)) this.#dates.add(date);
    // "the 18th" is one of the month that it is about
    const [first] = this.#dates;
    for (const [, day] of plain.matchAll(/\bthe (\d{1,2})(?:st|nd|rd|th)\b/g))
      if (first) this.#dates.add(`${first.slice(0, 2)}-${two(day)}`);
    for (const [, from, to] of plain.matchAll(/(\d{1,2}:\d{2})\s*[-–]\s*(\d{1,2}:\d{2})/g)) {
      const [begin = 0, end = 0] = [from, to].flatMap((time) => timesIn(String(time)));
      this.#numbers.add((end - begin + 720) % 720);
    }
    for (const time of timesIn(plain)) this.#times.add(time);
    for (const { text: span } of spansIn(plain)) this.#spans.add(span);
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
        if (typeof member === "number") {
          this.#numbers.add(member);
          this.#amounts.add(member);
        } else this.#addValue(member as Json);
      }
    }
  }

  hasIdentifier(value: string): boolean {
    if (this.#text.includes(value.toLowerCase())) return true;
    const squeeze = (text: string) => text.toLowerCase().replace(/[^\p{L}\d]/gu, "");
    return squeeze(this.#text).includes(squeeze(value));
  }

  /** As it is, or so many days or working days from a known one. */
  hasDate(date: string, spans: readonly Span[]): boolean {
    return [...this.#dates].some((known) => known === date || spans.some((span) => isApart(known, date, span)));
  }

  /** "7 business days": said somewhere, its parts at least, or between two known dates. */
  hasSpan(span: Span): boolean {
    const [number, ...unit] = span.text.split(" ");
    if (this.#numbers.has(Number(number)) && [...this.#spans].some((known) => known.endsWith(unit.join(" "))))
      return true;
    const dates = [...this.#dates];
    return dates.some((one) => dates.some((other) => isApart(one, other, span)));
  }

  hasTime(minutes: number): boolean {
    if (this.#times.has(minutes) || this.#times.has((minutes + 720) % 1440)) return true;
    return [...this.#times].some((known) =>
      LENGTHS.some((length) => (known + length) % 1440 === minutes && this.#runs.has(String(length))),
    );
  }

  /** An amount of money: known as it is, or worked out from amounts that are known or told beside it. */
  hasAmount(value: number, { money, asked, shares }: Beside, isRounded: boolean): boolean {
    const near = nearTo(value, isRounded);
    if ([...this.#numbers, ...this.#amounts].some(near)) return true;
    if (this.#columns.some((column) => sumsOf(column).some(near))) return true;
    const stated = [...money, ...asked].filter((number) => number !== value);
    if (sumsOf(stated.slice(0, MAX_COLUMN)).some(near)) return true;
    const factors = shares.filter((number) => Number.isInteger(number) && number > 1 && number <= 24);
    const percents = this.#percents();
    return [...this.#amounts, ...stated].some(
      (amount) =>
        stated.some((other) => near(amount + other) || near(amount - other) || near(other - amount)) ||
        factors.some((factor) => near(amount * factor) || near(amount / factor)) ||
        percents.some((percent) => near((amount * percent) / 100) || near(amount * (1 + percent / 100))),
    );
  }

  /** Any other number: its digits occur somewhere, it counts listed things, or it is worked out beside its parts. */
  hasNumber(value: number, { told, asked }: Beside, isRounded: boolean): boolean {
    const near = nearTo(value, isRounded);
    if (this.#runs.has(String(value)) || [...this.#numbers].some(near)) return true;
    if (Number.isInteger(value) && value >= 0 && value <= this.#longestList) return true;
    if (this.#columns.some((column) => sumsOf(column).some(near))) return true;
    const stated = [...told, ...asked].filter((number) => number !== value);
    if (sumsOf(stated.slice(0, MAX_COLUMN)).some(near)) return true;
    const known = [...this.#numbers];
    return stated.some(
      (one) =>
        known.some((other) => near(one + other) || near(one - other) || near(other - one)) ||
        stated.some((other) => near(one * other) || near(one / other)),
    );
  }

  #percents(): number[] {
    return [...this.#text.matchAll(/(\d+(?:\.\d+)?) ?(?:%|percent)/g)].map(([, digits]) => Number(digits));
  }
}

/**
 * `told`: the numbers of the same message; `money`: those that are amounts; `asked`: those of the user's last message;
 * `shares`: by how many an amount may have been multiplied or divided.
 */
type Beside = {
  told: readonly number[];
  money: readonly number[];
  asked: readonly number[];
  shares: readonly number[];
};

function nearTo(value: number, isRounded: boolean): (number: number) => boolean {
  const reach = isRounded ? Math.max(0.5, Math.abs(value) * 0.06) : 0.006;
  return (number) => Math.abs(number - value) < reach;
}

const MAX_COLUMN = 12;
const LENGTHS = [15, 20, 25, 30, 40, 45, 50, 60, 75, 90, 120];

/** Of every part of the column with at least two members. */
function sumsOf(column: readonly number[]): number[] {
  let sums = [0];
  for (const number of column) sums = [...sums, ...sums.map((sum) => sum + number)].slice(0, 4096);
  return sums.slice(1);
}

export type Unfounded = { value: string; sentence: string };

/** What the text states as a fact and nothing known bears out. */
export function findUnfounded(text: string, known: Known, userText: string): Unfounded[] {
  const message = plainText(text);
  const money = statedNumbers(message).flatMap(({ value }) => (value.isMoney ? [value.number] : []));
  const told = numbersIn(message);
  const asked = numbersIn(plainText(userText));
  return sentencesOf(message).flatMap((sentence) => {
    if (EXAMPLE.test(sentence) || (isQuestion(sentence) && UNSURE.test(sentence))) return [];
    const found = (value: string) => ({ value, sentence });
    const spans = [...spansIn(cutOut(sentence)), ...relativeSpans(sentence)];
    const dates = datesWithText(sentence).filter(
      ({ date, or }) => !known.hasDate(date, spans) && !(or && known.hasDate(or, spans)),
    );
    const promises = promisesIn(sentence).filter((span) => !known.hasSpan(span));
    const times = timesWithText(sentence).filter(({ minutes }) => !known.hasTime(minutes));
    const identifiers = [...identifiersIn(sentence), ...phonesIn(sentence)].filter(
      (value) => !known.hasIdentifier(value) && datesIn(value).length === 0 && !GENERAL.has(value),
    );
    const isRounded = ROUNDED.test(sentence);
    const shares = SHARED.test(sentence) ? [...told, ...asked] : [];
    const beside = { told, money, asked, shares };
    const rest = cutOut(sentence);
    const numbers = statedNumbers(rest).filter(
      ({ value: { number, isMoney } }) =>
        !(isMoney ? known.hasAmount(number, beside, isRounded) : known.hasNumber(number, beside, isRounded)),
    );
    return [
      ...dates.map(({ text: written }) => found(written)),
      ...times.map(({ text: written }) => found(written)),
      ...promises.map(({ text: written }) => found(written)),
      ...identifiers.map(found),
      ...numbers.map(({ text: written }) => found(written)),
    ];
  });
}

type Span = { text: string; days: number; isBusiness: boolean };

/** "within two business hours", "takes 5 days": how long something will take. */
function promisesIn(sentence: string): Span[] {
  const promised = [...sentence.matchAll(PROMISE)].map(([, span]) => String(span));
  return promised.flatMap(spansIn);
}

const SPAN =
  "(?:a|an|\\d+|\\p{L}+(?:-\\p{L}+)?)(?:\\s?(?:-|–|to)\\s?\\d+)?\\s+(?:business|working)?\\s?(?:minutes?|hours?|days?|weeks?|months?)";
const PROMISE = new RegExp(
  `\\b(?:within|takes?(?: up to| about)?|taking|arrives? in|ready in|in up to|up to|should take|will take)\\s+(?:the next\\s+|about\\s+|around\\s+)?(${SPAN})`,
  "giu",
);

/** Each as "7 business day". */
function spansIn(text: string): Span[] {
  return [...text.matchAll(new RegExp(SPAN, "giu"))].flatMap(([written]): Span[] => {
    const number = numbersIn(written).at(-1) ?? (/^an?\b/i.test(written) ? 1 : undefined);
    const unit = /(minute|hour|day|week|month)s?$/i.exec(written)?.[1]?.toLowerCase();
    if (number === undefined || unit === undefined) return [];
    const isBusiness = /business|working/i.test(written);
    const days = unit === "day" ? number : unit === "week" ? number * 7 : 0;
    return [{ text: `${number} ${isBusiness ? "business " : ""}${unit}`, days, isBusiness }];
  });
}

function relativeSpans(sentence: string): Span[] {
  const span = (days: number): Span => ({ text: "", days, isBusiness: false });
  return [
    ...(/\b(?:tomorrow|yesterday|the day (?:after|before)|next day)\b/iu.test(sentence) ? [span(1)] : []),
    ...(/\b(?:next week|a week|one week)\b/iu.test(sentence) ? [span(7)] : []),
  ];
}

/** Whether `later` is so many days after `earlier`; both are month and day, in the year that the domains are set in. */
function isApart(earlier: string, later: string, { days, isBusiness }: Span): boolean {
  const at = (date: string) => Date.UTC(2026, Number(date.slice(0, 2)) - 1, Number(date.slice(3)));
  const gap = (at(later) - at(earlier)) / DAY_MS;
  if (!isBusiness) return days > 0 && Math.abs(gap) === days;
  if (days <= 0 || gap < days || gap > days * 2 + 4) return false;
  let workdays = 0;
  for (let day = at(earlier) + DAY_MS; day <= at(later); day += DAY_MS)
    if (new Date(day).getUTCDay() % 6 !== 0) workdays++;
  return workdays === days;
}

const DAY_MS = 86_400_000;

const EXAMPLE = /\b(?:e\.g\.|for example|for instance|such as|in the form|format|like this|YYYY|looks like)\b/iu;
const UNSURE =
  /\b(?:did you mean|do you mean|is (?:it|that|this) (?:really )?|was it|could it be|you said|are you sure|or is it)\b/iu;
const ROUNDED =
  /\b(?:about|around|roughly|approximately|approx\.?|nearly|almost|just (?:over|under)|close to|some|circa)\b|~/iu;
const SHARED =
  /\b(?:each|per|apiece|times|split|divided|instal?l?ments?|cop(?:y|ies)|monthly|every|draws?|payments?|shares?|altogether|in total|total)\b|\d ?[x×*÷/] ?[$\d]/iu;
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

type Stated = { value: { number: number; isMoney: boolean }; text: string };

/** Amounts and measures at any size, other numbers from ten on. */
function statedNumbers(text: string): Stated[] {
  return [...text.matchAll(STATED)].flatMap(([written, currency, digits, decimals = "", unit = ""]): Stated[] => {
    const number = Number(`${String(digits).replaceAll(",", "")}${decimals}`);
    const isMoney = currency !== undefined || /^\s?(?:dollars?|usd|bucks|cents)/i.test(unit);
    const isMeasured = isMoney || unit !== "" || decimals !== "";
    if (number === 0 || (!isMeasured && number < 10) || (isMeasured && !isMoney && number < 3 && decimals === ""))
      return [];
    return [{ value: { number, isMoney }, text: written.trim() }];
  });
}

const STATED = new RegExp(
  `([$€£]\\s?)?(?<![\\p{L}\\d_]|[\\p{L}\\d][-.:/])(\\d{1,3}(?:,\\d{3})+|\\d+)(\\.\\d+)?(\\s?${UNITS}\\b|\\s?%)?`,
  "giu",
);

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

/** `or`: read with day and month the other way round. */
function datesWithText(text: string): { date: string; or?: string; text: string }[] {
  return DATE_FORMS.flatMap(([pattern, read]) =>
    [...text.matchAll(pattern)].map((match) => {
      const date = read(match);
      const swapped = `${date.slice(3)}-${date.slice(0, 2)}`;
      const or = match[0].includes("/") && DAY.test(swapped) ? swapped : undefined;
      return DAY.test(date) ? { date, or, text: match[0] } : { date: or ?? "", text: match[0] };
    }),
  ).filter(({ date }) => date !== "");
}

const DAY = /^(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$/;

export function datesIn(text: string): string[] {
  return datesWithText(text).flatMap(({ date, or }) => (or ? [date, or] : [date]));
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
