// The language of a text: by its script, and for Latin letters by a few of the most frequent words. Meant for a dialogue's
// worth of text; a single word is "other".
import type { ExportRecord } from "../record.ts";

const KANA = /[\p{Script=Hiragana}\p{Script=Katakana}]/gu;

/** How many words of each script: a CJK character is about half of one; names of things, with digits in them, are none. */
const SCRIPTS: { name: string; pattern: RegExp; weight: number }[] = [
  { name: "cjk", pattern: /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/gu, weight: 0.5 },
  { name: "hangul", pattern: /\p{Script=Hangul}+/gu, weight: 1 },
  { name: "cyrillic", pattern: /\p{Script=Cyrillic}+/gu, weight: 1 },
  { name: "arabic", pattern: /\p{Script=Arabic}+/gu, weight: 1 },
  { name: "latin", pattern: /(?<![\p{L}\p{N}_-])[\p{Script=Latin}'’]+(?![\p{L}\p{N}_-])/gu, weight: 1 },
  {
    name: "other",
    pattern:
      /[^\P{L}\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Cyrillic}\p{Script=Arabic}\p{Script=Latin}]+/gu,
    weight: 1,
  },
];

const FREQUENT: { [language: string]: string } = {
  en: "the a an i i'm is are was to of and in it my me you your for that this on with have not can could please hi hello thanks thank yes no what would need want",
  es: "el la los las un una de que y en es no mi me por para con su lo se al del quiero puedo puede gracias hola sí necesito favor está como pero",
  fr: "le la les un une de des du et en est que qui je j'ai mon ma me pour pas ne vous avec ce il au sur bonjour merci oui non voudrais peux s'il plaît mais",
  de: "der die das ein eine einen und ist ich nicht zu mit für auf den dem von es sie mir mein meine bitte danke hallo ja nein kann möchte wie auch aber im am",
  it: "il lo la i gli le un una di che e è in non per con mi mio mia si del della sono ho vorrei grazie ciao sì no come ma al",
  pt: "o a os as um uma de do da que e é em não por para com meu minha me se no na eu você obrigado obrigada olá sim quero preciso mas como",
  nl: "de het een en van ik is niet te dat in op voor met mijn je zijn aan die er maar kan wil graag dank hallo ja nee bedankt hoe wat",
};
const LISTS = Object.entries(FREQUENT).map(([language, words]) => ({ language, words: new Set(words.split(" ")) }));
const MIN_WORDS = 2;
const MIN_SHARE = 0.15;
const MIN_KANA = 0.1;

/** Of the user's words. */
export function detectRecordLanguage({ messages }: ExportRecord): string {
  return detectLanguage(messages.flatMap(({ role, content }) => (role === "user" ? [content] : [])).join("\n"));
}

/** An ISO 639-1 code, or "other". */
export function detectLanguage(text: string): string {
  const sizes = SCRIPTS.map(({ name, pattern, weight }) => ({
    name,
    size: (text.match(pattern)?.length ?? 0) * weight,
  }));
  // in a tie the earlier one: foreign names are mostly Latin
  const { name, size } = sizes.reduce((most, next) => (next.size > most.size ? next : most));
  if (size === 0) return "other";
  if (name === "cjk") return (text.match(KANA)?.length ?? 0) * 0.5 >= size * MIN_KANA ? "ja" : "zh";
  if (name === "hangul") return "ko";
  // letters of neighbours that share the script
  if (name === "cyrillic") return /[іїєґўјљњћђџ]/i.test(text) ? "other" : "ru";
  if (name === "arabic") return /[پچژگٹڈ]/.test(text) ? "other" : "ar";
  return name === "latin" ? latinLanguage(text) : "other";
}

function latinLanguage(text: string): string {
  const words =
    text
      .toLowerCase()
      .replaceAll("’", "'")
      .match(/[\p{L}']+/gu) ?? [];
  const found = LISTS.map(({ language, words: frequent }) => ({
    language,
    count: words.filter((word) => frequent.has(word)).length,
  })).sort((a, b) => b.count - a.count);
  const [first, second] = found as [(typeof found)[number], (typeof found)[number]];
  const isEnough = first.count >= Math.max(MIN_WORDS, MIN_SHARE * words.length);
  return isEnough && first.count > second.count ? first.language : "other";
}
