// Numbers and dates as answers write them: 1,234.50 is 1234.5, fifteen is 15, March 5, 2021 is 2021-03-05.
import { MONTHS, spelledNumber, withDigits } from "../values.ts";

export type Quantity = {
  value: number;
  /** of a whole number: its digits, since large ones do not fit a number */
  digits?: string;
  /** how many decimals it was rounded to; undefined for fractions */
  decimals?: number;
  unit: string;
};

const PLAIN = "\\d{1,3}(?:,\\d{3})+(?:\\.\\d+)?|\\d{1,3}(?:\\.\\d{3})+,\\d+|\\d+(?:\\.\\d+)?|\\.\\d+";
const POWER = "(?:e([+-]?\\d{1,3})|\\s?[x×*]\\s?10\\s?\\^?\\s?\\{?([+-]?\\d{1,3})\\}?)?";
const SCALES: { [word: string]: number } = {
  thousand: 1e3,
  million: 1e6,
  mn: 1e6,
  billion: 1e9,
  bn: 1e9,
  trillion: 1e12,
  万: 1e4,
  百万: 1e6,
  千万: 1e7,
  亿: 1e8,
};
const SCALE = `(?:\\s?(${Object.keys(SCALES).join("|")})(?![a-z]))?`;
const CURRENCY = "(us\\$|[$€£¥₹])?";
const QUANTITY = new RegExp(
  `^(?:about |approximately |around |roughly |exactly |约|大约|≈ ?|~)?${CURRENCY}\\s?([+-]?)\\s?${CURRENCY}\\s?(?:(\\d+) )?(?:(\\d+)/(\\d+)|(${PLAIN})${POWER})${SCALE}\\s?([^\\d\\n]*)$`,
);

/** A text that is nothing but a number, with its unit if it has one. */
export function readQuantity(cleaned: string): Quantity | undefined {
  const text = cleaned
    .toLowerCase()
    .replace(/[.。!！,，;]+$/, "")
    .trim();
  const found = QUANTITY.exec(withNumerals(text));
  if (!found) return undefined;
  const [, before, sign, after, whole, over, under, plain, power, tens, scale, rest = ""] = found;
  if (whole !== undefined && over === undefined) return undefined;
  const unit = readUnit(`${before ?? after ?? ""} ${rest}`);
  if (unit === undefined) return undefined;
  const factor = (sign === "-" ? -1 : 1) * (scale ? (SCALES[scale] as number) : 1);
  if (over !== undefined) {
    const value = Number(whole ?? 0) + Number(over) / Number(under);
    return Number.isFinite(value) ? { value: factor * value, unit } : undefined;
  }
  const written = plainDigits(String(plain));
  if (/^0\d/.test(written)) return undefined; // a code
  const exponent = Number(power ?? tens ?? 0);
  const value = factor * Number(written) * 10 ** exponent;
  const isWhole = !written.includes(".") && exponent === 0 && !scale;
  return {
    value,
    unit,
    ...(isWhole && { digits: (sign === "-" ? "-" : "") + written }),
    decimals: written.split(".")[1]?.length ?? 0,
  };
}

function plainDigits(text: string): string {
  return /^\d{1,3}(?:\.\d{3})+,\d+$/.test(text) ? text.replaceAll(".", "").replace(",", ".") : text.replaceAll(",", "");
}

/** Number words as digits, where the text begins with some. */
function withNumerals(text: string): string {
  const words =
    /^(?:about |approximately |around |roughly |exactly )?([a-z]+(?:[ -][a-z]+)*)/.exec(text)?.[1]?.split(/(?=[ -])/) ??
    [];
  for (let length = words.length; length > 0; length--) {
    const spelled = words.slice(0, length).join("");
    const number = spelledNumber(spelled);
    if (number !== undefined) return text.replace(spelled, String(number));
  }
  return /^[约大]*[零一二两三四五六七八九十百千]/.test(text) ? withDigits(text) : text;
}

/** A unit under one name; undefined if the words are no unit. */
function readUnit(words: string): string | undefined {
  const text = words.trim().replace(/\s+/g, " ");
  if (text === "") return "";
  const known = UNITS.get(text);
  if (known) return known;
  return /^(?!(?:st|nd|rd|th)$)(?:[a-zµ°]{2,}(?:\/[a-z]+|\^\d)?|(?:square|cubic|degrees?|per) [a-z]+|[a-z]+ per [a-z]+|\p{Script=Han}{1,4})$/u.test(
    text,
  )
    ? text.replace(/(?<=[a-z]{3})s$/, "")
    : undefined;
}

const UNITS = new Map(
  [
    "% percent per cent",
    "$ us$ usd dollar dollars us dollars 美元",
    "€ eur euro euros 欧元",
    "£ gbp 英镑",
    "¥ cny rmb yuan 元",
    "km kilometer kilometers kilometre kilometres 公里 千米",
    "m meter meters metre metres 米",
    "cm centimeter centimeters centimetre centimetres 厘米",
    "mm millimeter millimeters millimetre millimetres 毫米",
    "mi mile miles",
    "ft foot feet",
    "kg kilogram kilograms 公斤 千克",
    "g gram grams 克",
    "s sec secs second seconds 秒",
    "min mins minute minutes 分钟",
    "h hr hrs hour hours 小时",
    "day days 天",
    "year years yr yrs 岁",
    "°c degrees celsius degree celsius celsius 摄氏度",
    "°f degrees fahrenheit degree fahrenheit fahrenheit 华氏度",
    "° degree degrees 度",
  ].flatMap((line) => {
    const several = /per cent|us dollars|degrees? celsius|degrees? fahrenheit/g;
    const names = [...(line.match(several) ?? []), ...line.replace(several, "").split(" ").filter(Boolean)];
    const canonical = line.split(" ")[0] as string;
    return names.map((name) => [name, canonical] as const);
  }),
);

export function isUnit(word: string): boolean {
  return UNITS.has(word);
}

/** Units of which a number without one says something else. */
const STRICT = new Set(["bc", "bce", "°f"]);

export function sameQuantity(a: Quantity, b: Quantity): boolean {
  const [x, y] = [a.unit, b.unit];
  if (x !== y && (STRICT.has(x) || STRICT.has(y))) return false;
  const fits = x === y || x === "" || y === "" || (x === "°" && y.startsWith("°")) || (y === "°" && x.startsWith("°"));
  if (x === "%" && y === "" && sameValue(a.value / 100, b.value) && b.digits === undefined) return true;
  if (y === "%" && x === "" && sameValue(b.value / 100, a.value) && a.digits === undefined) return true;
  if (!fits) return false;
  if (a.digits !== undefined && b.digits !== undefined) return a.digits === b.digits;
  // a fraction and a decimal that it was rounded to
  const rounded = a.decimals === undefined ? b.decimals : b.decimals === undefined ? a.decimals : undefined;
  if (rounded !== undefined && rounded >= 3) return Math.abs(a.value - b.value) <= 0.5000001 * 10 ** -rounded;
  return sameValue(a.value, b.value);
}

function sameValue(a: number, b: number): boolean {
  return Math.abs(a - b) <= 1e-12 * Math.max(Math.abs(a), Math.abs(b));
}

const NUMBER_IN_TEXT = new RegExp(
  `(?<!(?!\\p{Script=Han})\\p{L}|[\\d_.,/-]|\\d:)-?${CURRENCY}(?:${PLAIN})${POWER}${SCALE}(?:\\s?%)?(?![\\d_]|[-/:]\\d)`,
  "giu",
);

/** The numbers of a text with their places; those of dates, times and names are not among them. */
export function quantitiesIn(cleaned: string): { quantity: Quantity; at: number; end: number }[] {
  return [...cleaned.matchAll(NUMBER_IN_TEXT)].flatMap((match) => {
    const end = match.index + match[0].length;
    const [tail = "", word = ""] = /^\s?(\p{L}+)/u.exec(cleaned.slice(end)) ?? [];
    const unit = isUnit(word.toLowerCase()) ? tail : "";
    if (unit === "" && tail !== "" && tail === word && !/^\p{Script=Han}/u.test(word)) return []; // 15a
    const quantity = readQuantity(match[0] + unit);
    return quantity ? [{ quantity, at: match.index, end: end + unit.length }] : [];
  });
}

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
