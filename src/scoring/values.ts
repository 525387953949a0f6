// Facts matched as values, not as text: 10 is not found in 100, 1,180 is $1,180.00, 2026-02-13 is February 13.

/** Whether a text states a value. */
export function tells(message: string, value: string | number): boolean {
  const text = withDigits(message);
  const wanted = typeof value === "number" ? value : asNumber(value);
  if (wanted !== undefined) return numbersIn(text).some((number) => Math.abs(number - wanted) < 1e-9);
  const written = String(value);
  if (occurs(text, written)) return true;
  const date = /^(\d{4})-(\d{2})-(\d{2})(?:T|$)/.exec(written);
  if (date) return tellsDate(text, { year: Number(date[1]), month: Number(date[2]), day: Number(date[3]) });
  const time = /^(\d{1,2}):(\d{2})$/.exec(written);
  return time !== null && tellsTime(text, Number(time[1]), Number(time[2]));
}

const HAN_DIGITS = "零一二三四五六七八九";

/** 三点二十 → 3点20, 一千一百八十 → 1180. */
export function withDigits(text: string): string {
  return text.replace(/[零一二两三四五六七八九十百千]+/g, (written) => {
    if (!/[十百千]/.test(written)) return [...written].map((digit) => digitOf(digit)).join("");
    let total = 0;
    let digit = 0;
    for (const sign of written) {
      const unit = { 十: 10, 百: 100, 千: 1000 }[sign];
      if (unit) total += (digit || 1) * unit;
      digit = unit ? 0 : digitOf(sign);
    }
    return String(total + digit);
  });
}

function digitOf(sign: string): number {
  return sign === "两" ? 2 : HAN_DIGITS.indexOf(sign);
}

/** A value that is either stated or not: a number, an amount, a date, a time, an identifier; not prose. */
export function isHardValue(value: unknown): value is string | number {
  if (typeof value === "number") return true;
  return typeof value === "string" && value.length <= 40 && /\d/.test(value) && !/\s/.test(value.trim());
}

/** Values that a person cannot make up by chance: identifiers, long numbers, email addresses. */
export function identifiersIn(text: string): string[] {
  return [...text.matchAll(IDENTIFIER)].map(([found]) => found.replace(/[.,;:!?)]+$/, ""));
}

const IDENTIFIER =
  /(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,64}\.[\w.]{1,64}|\b[A-Za-z]{1,8}-?\d{3,}[\w-]*|\b[A-Z]{2,8}(?:-[A-Z0-9]+)+\b|\b\d{5,}\b/g;

// not after a letter, a digit or what joins it to one; not before a letter unless that is a unit or a hyphenated word
const BEFORE = "(?<![\\p{L}\\d_]|[\\p{L}\\d][-.:/,])";
const AFTER = "(?!\\d|_|[,.]\\d|[-:/]\\d|-\\p{Lu}|(?!(?:mg|kg|km|cm|ml|GB|MB|USD|EUR|st|nd|rd|th)\\b)\\p{L})";
const NUMBER = new RegExp(`${BEFORE}-?(?:\\d{1,3}(?:,\\d{3})+|\\d+)(?:\\.\\d+)?${AFTER}`, "gu");

/** Numbers that stand for themselves: not the digits of an identifier, a date or a time. */
export function numbersIn(text: string): number[] {
  const written = [...text.matchAll(NUMBER)].map(([found]) => Number(found.replaceAll(",", "")));
  const spelled = [...text.toLowerCase().matchAll(SPELLED)].map(([words]) => readSpelled(words));
  return [...written, ...spelled];
}

/** Number words, each at the index of its number. */
export const ONES =
  "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split(
    " ",
  );
const TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split(" ");
const WORD = `(?:${[...ONES.slice(1).toReversed(), ...TENS, "hundred", "thousand"].join("|")})`;
const SPELLED = new RegExp(`\\b(?:zero|a hundred|a thousand|${WORD}(?:(?:[ -]|,? and )${WORD})*)\\b`, "g");

const ONLY_SPELLED = new RegExp(`^(?:${SPELLED.source})$`);

/** The number that a text spells out, if it does nothing else. */
export function spelledNumber(text: string): number | undefined {
  return ONLY_SPELLED.test(text) ? readSpelled(text) : undefined;
}

/** With number words as digits; "one" is more often a pronoun. */
export function withSpelledDigits(text: string): string {
  return text.replace(new RegExp(SPELLED.source, "gi"), (words) =>
    /^one$/i.test(words) ? words : String(readSpelled(words.toLowerCase())),
  );
}

/** "ninety-five", "two thousand and eighty". */
function readSpelled(words: string): number {
  let total = 0;
  let part = 0;
  for (const word of words.split(/[ -]+|,/)) {
    const ones = ONES.indexOf(word);
    const tens = TENS.indexOf(word);
    if (ones !== -1) part += ones;
    else if (tens !== -1) part += (tens + 2) * 10;
    else if (word === "hundred") part = (part || 1) * 100;
    else if (word === "thousand") {
      total += (part || 1) * 1000;
      part = 0;
    } else if (word === "a") part = 0;
  }
  return total + part;
}

function asNumber(text: string): number | undefined {
  return /^[$€£]?-?(\d{1,3}(,\d{3})+|\d+)(\.\d+)?$/.test(text) ? Number(text.replace(/[$€£,]/g, "")) : undefined;
}

/** As a whole word, ignoring case and the kind of whitespace. */
export function occurs(text: string, value: string): boolean {
  const pattern = value
    .replaceAll("’", "'")
    .trim()
    .split(/\s+/)
    .map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"))
    .join("\\s+");
  return (
    pattern !== "" &&
    new RegExp(`(?<![\\p{L}\\p{N}])${pattern}(?![\\p{L}\\p{N}])`, "iu").test(text.replaceAll("’", "'"))
  );
}

const OTHER_MONTH = "(?:march|april|may|june|july|august|september|october|november|december)";
export const MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split(" ");

function tellsDate(text: string, { year, month, day }: { year: number; month: number; day: number }): boolean {
  const name = `${MONTHS[month - 1]}[a-z]*\\.?`;
  const nth = `0?${day}(?:st|nd|rd|th)?`;
  const patterns = [
    `\\b${name} ${nth}\\b(?!\\d)`,
    `\\b${nth}(?: of)? ${name}\\b`,
    `\\b${year}-${two(month)}-${two(day)}\\b`,
    `\\b0?${month}/0?${day}(?:/${year}|/${year % 100})?\\b`,
    `\\b0?${day}\\.0?${month}\\.(?:${year})?`,
    `(?:${year}年)?0?${month}月0?${day}[日号]`,
    `\\bthe 0?${day}(?:st|nd|rd|th)\\b(?! (?:of )?(?!this|the|that)[a-z]+ary| (?:of )?${OTHER_MONTH})`,
  ];
  return patterns.some((pattern) => new RegExp(pattern, "i").test(text));
}

function tellsTime(text: string, hour: number, minute: number): boolean {
  const twelve = hour % 12 === 0 ? 12 : hour % 12;
  const half = hour < 12 ? "a" : "p";
  const minutes = minute === 0 ? "(?::00)?" : `:${two(minute)}`;
  return (
    new RegExp(`(?<!\\d)0?${hour}:${two(minute)}(?!\\d)`).test(text) ||
    new RegExp(`(?<!\\d)0?${twelve}${minutes}\\s*${half}\\.?m\\b`, "i").test(text) ||
    new RegExp(
      `(?<!\\d)0?${twelve}${minutes}\\s*(?:-|–|to|until)\\s*\\d{1,2}(?::\\d{2})?\\s*${half}\\.?m\\b`,
      "i",
    ).test(text) ||
    (twelve === hour &&
      minute === 0 &&
      new RegExp(`\\b${ONES[hour]}(?: o'clock| sharp| in the morning)\\b|\\bat ${ONES[hour]}\\b`, "i").test(text)) ||
    (minute === 30 && new RegExp(`\\bhalf[- ]past ${ONES[twelve]}\\b`, "i").test(text)) ||
    (minute === 15 && new RegExp(`\\b(?:a )?quarter past ${ONES[twelve]}\\b`, "i").test(text)) ||
    (minute === 45 && new RegExp(`\\b(?:a )?quarter to ${ONES[(twelve % 12) + 1]}\\b`, "i").test(text)) ||
    new RegExp(
      `(?:上午|下午|晚上|中午|早上|傍晚)\\s*0?(?:${twelve}|${hour})(?:[:：点时])${minute === 0 ? "(?:00|整)?" : `${minute === 30 ? "(?:30|半)" : two(minute)}`}`,
    ).test(text) ||
    (hour === 12 && minute === 0 && /\bnoon\b|\bmidday\b/i.test(text))
  );
}

/** A month or a day as ISO dates write it. */
export function two(number: number | string | undefined): string {
  return String(number).padStart(2, "0");
}
