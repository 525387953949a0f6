// Numbers as answers write them: 1,234.50 is 1234.5, fifteen is 15, 5 million is 5,000,000.
import { spelledNumber, withDigits } from "../values.ts";

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
  return /^(?!(?:st|nd|rd|th)$|[多余几来])(?:[a-zµ°]{2,}(?:\/[a-z]+|\^\d)?|(?:square|cubic|degrees?|per) [a-z]+|[a-z]+ per [a-z]+|\p{Script=Han}{1,4})$/u.test(
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
