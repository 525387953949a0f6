// From text to the words that are searched for: folded words of scripts that have spaces, pairs of characters of those
// that have none. The same for documents and queries.

const WORDS = /[\p{L}\p{N}\p{M}]+/gu;
const PLAIN_WORDS = /[a-z0-9]+/g;
const BEYOND_ASCII = /[^\s!-~]/;
const ACCENTS = /[\u0300-\u036f]/g;
/** The first and last character of each range of scripts without spaces, or with so few that they divide no words. */
const UNSPACED = [
  ["\u0e00", "\u0eff"], // Thai, Lao
  ["\u1000", "\u109f"], // Myanmar
  ["\u1780", "\u17ff"], // Khmer
  ["\u2e80", "\u2fdf"],
  ["\u3005", "\u3007"],
  ["\u3040", "\u318f"], // kana
  ["\u31f0", "\u31ff"],
  ["\u3400", "\u9fff"], // Han
  ["\uac00", "\ud7af"], // Hangul
  ["\ud840", "\ud88f"], // the first half of rarer Han
  ["\uf900", "\ufaff"],
] as const;
const HAS_UNSPACED = new RegExp(`[${UNSPACED.map(([first, last]) => `${first}-${last}`).join("")}]`);

/** A word that is longer is not one: a key, an encoded picture. */
const MAX_LENGTH = 40;

/** Every word of the text, in order, repeated as often as it occurs. */
export function splitWords(text: string): string[] {
  const isPlain = !BEYOND_ASCII.test(text);
  const words = isPlain ? (text.toLowerCase().match(PLAIN_WORDS) ?? []) : (fold(text).match(WORDS) ?? []);
  if (isPlain || !HAS_UNSPACED.test(text)) return keepShort(words);
  const pairs: string[] = [];
  for (const word of words) {
    if (HAS_UNSPACED.test(word)) pairUp(word, pairs);
    else pairs.push(word);
  }
  return keepShort(pairs);
}

/** Lower case, without accents, full-width forms as usual ones. */
export function fold(text: string): string {
  if (!BEYOND_ASCII.test(text)) return text.toLowerCase();
  return text.normalize("NFKD").replace(ACCENTS, "").normalize("NFC").toLowerCase();
}

/** `東京都庁2020` is 東京, 京都, 都庁 and 2020; a character on its own is a word. */
function pairUp(run: string, words: string[]): void {
  let start = 0;
  while (start < run.length) {
    const isUnspaced = isUnspacedAt(run, start);
    let end = start;
    while (end < run.length && isUnspacedAt(run, end) === isUnspaced) end += widthAt(run, end);
    if (!isUnspaced) words.push(run.slice(start, end));
    else if (end - start === widthAt(run, start)) words.push(run.slice(start, end));
    else
      for (let at = start, next = start + widthAt(run, start); next < end; at = next, next += widthAt(run, next))
        words.push(run.slice(at, next + widthAt(run, next)));
    start = end;
  }
}

const isUnspacedUnit = new Uint8Array(65_536);
for (const [first, last] of UNSPACED) isUnspacedUnit.fill(1, first.charCodeAt(0), last.charCodeAt(0) + 1);

function isUnspacedAt(text: string, at: number): boolean {
  return isUnspacedUnit[text.charCodeAt(at)] === 1;
}

function widthAt(text: string, at: number): number {
  return (text.charCodeAt(at) & 0xfc00) === 0xd800 ? 2 : 1;
}

function keepShort(words: string[]): string[] {
  return words.some((word) => word.length > MAX_LENGTH) ? words.filter((word) => word.length <= MAX_LENGTH) : words;
}
