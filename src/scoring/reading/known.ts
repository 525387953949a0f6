// All that an agent may know at some point of a dialogue, and whether a value is borne out by it.
import { isObject, type Json, parseJson } from "../../core/index.ts";
import { numbersIn, two } from "../values.ts";
import { type Count, countsIn, statedNumbers } from "./amounts.ts";
import { datesIn, isApart, type Span, spansIn, timesIn } from "./dates.ts";
import { plainText } from "./sentences.ts";

export class Known {
  #text = "";
  /** the text's letters and digits, as far as they were needed */
  #squeezed = "";
  #runs = new Set<string>();
  #numbers = new Set<number>();
  /** numbers of results, and those that are written as money */
  #amounts = new Set<number>();
  #dates = new Set<string>();
  #times = new Set<number>();
  /** numbers under one key of one result: what a total adds up */
  #columns: number[][] = [];
  #spans = new Set<string>();
  /** by noun: how many seats, credits and the like there are */
  #counts = new Map<string, Set<number>>();
  #longestList = 0;

  /** For one dialogue more to be added to what is known from the start. */
  copy(): Known {
    const copy = new Known();
    copy.#text = this.#text;
    copy.#runs = new Set(this.#runs);
    copy.#numbers = new Set(this.#numbers);
    copy.#amounts = new Set(this.#amounts);
    copy.#dates = new Set(this.#dates);
    copy.#times = new Set(this.#times);
    copy.#columns = [...this.#columns];
    copy.#spans = new Set(this.#spans);
    copy.#counts = new Map([...this.#counts].map(([noun, numbers]) => [noun, new Set(numbers)]));
    copy.#longestList = this.#longestList;
    return copy;
  }

  add(text: string): void {
    const plain = plainText(text);
    this.#text += `\n${plain.toLowerCase()}`;
    this.#squeezed = "";
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
    for (const { noun, number } of countsIn(plain)) this.#count(noun, number);
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
      for (const [key, member] of Object.entries(value)) {
        if (typeof member === "number") {
          const noun = /seat|capacity|credit|refill|cop(?=y|ies)/i.exec(key)?.[0]?.toLowerCase();
          if (noun) this.#count(noun === "capacity" ? "seat" : noun, member);
          this.#numbers.add(member);
          this.#amounts.add(member);
        } else this.#addValue(member as Json);
      }
    }
  }

  #count(noun: string, number: number): void {
    this.#counts.set(noun, (this.#counts.get(noun) ?? new Set()).add(number));
  }

  /** Said of that very thing, or worked out from what is; true if nothing is known about it. Credits are added up. */
  hasCount({ noun, number }: Count, told: readonly number[]): boolean {
    const known = [...(this.#counts.get(noun) ?? [])];
    if (known.length === 0 || known.includes(number)) return true;
    const beside = told.filter((other) => other !== number);
    const others = noun === "credit" ? [...known, ...beside, ...this.#numbers] : beside;
    return [...known, ...beside].some((one) =>
      others.some((other) => [one + other, one - other, other - one].includes(number)),
    );
  }

  hasIdentifier(value: string): boolean {
    if (this.#text.includes(value.toLowerCase())) return true;
    this.#squeezed ||= squeeze(this.#text);
    return this.#squeezed.includes(squeeze(value));
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

function squeeze(text: string): string {
  return text.toLowerCase().replace(/[^\p{L}\d]/gu, "");
}
