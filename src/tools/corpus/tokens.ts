// From text to the words that are searched for: folded words of scripts that have spaces, pairs of characters of those
// that have none. The same for documents and queries.

/** Scripts that are written without spaces, or with so few that a word is rarely between two. */
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}ー]/u;
const WORDS = /[\p{L}\p{N}\p{M}]+/gu;
const BEYOND_ASCII = /[^\s!-~]/;
const PLAIN_WORDS = /[a-z0-9]+/g;

/** A word that is longer is not one: a key, an encoded picture. */
const MAX_LENGTH = 40;

/** Every word of the text, in order, repeated as often as it occurs. */
export function splitWords(text: string): string[] {
  if (!BEYOND_ASCII.test(text)) return keepShort(text.toLowerCase().match(PLAIN_WORDS) ?? []);
  return keepShort((fold(text).match(WORDS) ?? []).flatMap((word) => (UNSPACED.test(word) ? pairUp(word) : word)));
}

/** Lower case, without accents, full-width forms as usual ones. */
export function fold(text: string): string {
  return text.normalize("NFKD").replace(ACCENTS, "").normalize("NFC").toLowerCase();
}

/** Only those of alphabets: in other scripts marks are letters. */
const ACCENTS = /(?<=[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}])\p{M}+/gu;

/** `東京都庁2020` is 東京, 京都, 都庁 and 2020; a character on its own is a word. */
function pairUp(run: string): string[] {
  const words: string[] = [];
  let other = "";
  let previous = "";
  const end = () => {
    if (other) words.push(other);
    if (previous.length > 0 && isAlone) words.push(previous);
    other = previous = "";
  };
  let isAlone = false;
  for (const character of run) {
    if (!UNSPACED.test(character) && !/\p{M}/u.test(character)) {
      if (previous) end();
      other += character;
      continue;
    }
    if (other) end();
    isAlone = previous === "";
    if (previous) words.push(previous + character);
    previous = character;
  }
  end();
  return words;
}

function keepShort(words: string[]): string[] {
  return words.some((word) => word.length > MAX_LENGTH) ? words.filter((word) => word.length <= MAX_LENGTH) : words;
}
