// Whether a short reply states the known answer in a sentence: "The capital of France is Paris." The sentence must put
// it where answers stand, without a denial, a hedge or another candidate anywhere in the reply. Strict on purpose.
import { withSpelledDigits } from "../values.ts";
import { Asked, COPULAS, LINKS, SKIPPED, STOP, type Word, wordsOf } from "./answer-words.ts";
import { cleanAnswer } from "./clean-answer.ts";
import { covers, datesIn, readDate } from "./dates.ts";
import { isUnit, quantitiesIn, readQuantity, sameQuantity } from "./quantities.ts";

const MAX_LENGTH = 600;
const MAX_SENTENCES = 5;

export function statesAnswer(given: string, expected: string, question: string): boolean {
  if (given.length > 4 * MAX_LENGTH) return false;
  const wanted = cleanAnswer(expected).replace(/[.。]+$/, "");
  const spoken = withoutSource(cleanAnswer(given));
  const said = readQuantity(wanted) ? withSpelledDigits(spoken) : spoken;
  const sentences = splitSentences(said).map((sentence) => withoutContrast(sentence, wanted));
  if (said.length > MAX_LENGTH || sentences.length > MAX_SENTENCES || wanted === "") return false;
  const polarity = polarityOf(wanted);
  if (polarity !== undefined) return answersWith(sentences, polarity);
  if (sentences.some((sentence) => DOUBT.test(sentence) || HAN_DOUBT.test(sentence))) return false;
  const asked = new Asked(cleanAnswer(question));
  const values = valuesAs(wanted, said, asked);
  if (values === "others") return false;
  const verdicts = sentences.map((sentence) => read(sentence, { wanted, asked, values }));
  return verdicts.includes("states") && !verdicts.includes("competes");
}

/** What takes an answer back, weighs several, or says it of something else. */
const DOUBT =
  /[?<>≤≥≠±]|\b(?:not|no|never|neither|nor|none|nobody|cannot|without|or|either|maybe|perhaps|possibly|probably|likely|unlikely|might|could|would|should|unless|if|whether|except|but|although|though|while|whereas|however|rather|instead|than|unlike|near|nearly|almost|over|under|more|fewer|less|least|before|after|until|since|between|formerly|previously|originally|wrong|incorrect|false|mistaken|actually|wait|correction|unsure|uncertain|unclear|unknown|versus|vs|compared|alternatively|sometimes|some|many|guess|outside|opposite|next to)\b|n't\b/i;
const HAN_DOUBT =
  /[不没非未无否别吗呢？或]|可能|也许|大概|还是|要么|但|而是|除了|曾经|左右|至少|最多|超过|以上|以下|以前|以后|附近|错/;

/** "According to the documents, …" says nothing about the answer. */
function withoutSource(text: string): string {
  return text
    .replace(/^(?:according to|based on|per|from) [^,.\n]{1,80}, /i, "")
    .replace(/^(?:根据|据)[^，。\n]{1,40}，/, "");
}

/** "…, not Sydney" names what the answer is not. */
function withoutContrast(sentence: string, wanted: string): string {
  const [tail, other = ""] = /,? (?:and )?not (\p{Lu}[\p{L}' -]*|\d[\d,.]*)\.?$/u.exec(sentence) ?? [];
  return tail === undefined || other.toLowerCase().includes(wanted.toLowerCase())
    ? sentence
    : sentence.slice(0, -tail.length);
}

const ABBREVIATED = /(?:\b(?:mr|mrs|ms|dr|st|prof|jr|sr|no|mt|vs|approx|fig|ca)|(?<!\p{L})\p{Lu})\.$/iu;

function splitSentences(text: string): string[] {
  const pieces = text.split(/(?<=[.!?])\s+|(?<=[。！？；])|\n+|;\s+/);
  const sentences: string[] = [];
  for (const piece of pieces) {
    const before = sentences.at(-1);
    if (before !== undefined && (ABBREVIATED.test(before) || /^\d{1,3}\.$/.test(before)))
      sentences[sentences.length - 1] = `${before} ${piece}`;
    else if (piece.trim() !== "") sentences.push(piece.trim());
  }
  return sentences;
}

const YES = /^(?:yes|true|correct|是的?|对的?|正确)$/i;
const NO = /^(?:no|false|incorrect|不是|不对|否|错误?|没有)$/i;

function polarityOf(text: string): boolean | undefined {
  return YES.test(text) ? true : NO.test(text) ? false : undefined;
}

/** The reply begins with it, and nothing later says the opposite. */
function answersWith(sentences: string[], wanted: boolean): boolean {
  const [first = "", ...rest] = sentences;
  const opening =
    /^(?:the answer is |it is |that is |that's |答案是)?(yes|no|true|false|correct|incorrect|不是|不对|是的?|对的?|否|没有|正确|错误)(?=$|[,.!:;，。！、]| (?:-|it|he|she|they|that|this|there|we|i|you)\b)(.*)$/is.exec(
      first,
    );
  if (!opening || polarityOf(opening[1] as string) !== wanted) return false;
  const later = [opening[2] ?? "", ...rest].join(" ");
  if (
    /\b(?:however|depends?|partly|unless|maybe|perhaps|not sure|unsure|in some cases|sometimes|actually|wait)\b|不一定|但|可能|\?/i.test(
      later,
    )
  )
    return false;
  return wanted ? !/\b(?:no|not|false|but)\b|n't\b|[不没]/i.test(later) : !/\b(?:yes|true|but)\b/i.test(later);
}

type Values = { places(sentence: string): { at: number; end: number }[] } | undefined;

/** For numbers and dates: where they stand in a sentence. "others": the reply has a different one too. */
function valuesAs(wanted: string, said: string, asked: Asked): Values | "others" {
  const date = readDate(wanted);
  if (date) {
    const isWanted = (one: ReturnType<typeof datesIn>[number]) => covers(one.date, date);
    const inQuestion = datesIn(asked.text);
    const isAsked = (one: ReturnType<typeof datesIn>[number]) => inQuestion.some((own) => covers(own.date, one.date));
    const found = datesIn(said);
    if (found.some((one) => !isWanted(one) && (asked.isChoice || !isAsked(one)))) return "others";
    return { places: (sentence) => datesIn(sentence).filter(isWanted) };
  }
  const number = readQuantity(wanted);
  if (!number) return undefined;
  const isWanted = (one: ReturnType<typeof quantitiesIn>[number]) => sameQuantity(one.quantity, number);
  const inQuestion = quantitiesIn(asked.text);
  const isAsked = (one: ReturnType<typeof quantitiesIn>[number]) =>
    inQuestion.some((own) => sameQuantity(own.quantity, one.quantity));
  if (quantitiesIn(said).some((one) => !isWanted(one) && (asked.isChoice || !isAsked(one)))) return "others";
  return { places: (sentence) => quantitiesIn(sentence).filter(isWanted) };
}

/** Less than a sentence may be another answer. */
const MIN_SENTENCE = { words: 5, han: 10 };

type Wanted = { wanted: string; asked: Asked; values: Values };

function read(sentence: string, { wanted, asked, values }: Wanted): "states" | "competes" | "neither" {
  const places = values ? values.places(sentence) : placesOf(wanted, sentence);
  const isHan = /\p{Script=Han}/u.test(sentence);
  if (places.length > 0) {
    const stands = isHan ? standsInHan : standsAsAnswer;
    return places.some((place) => stands(sentence, place, { asked, isValue: values !== undefined }))
      ? "states"
      : "neither";
  }
  const words = wordsOf(sentence);
  const isNew = ({ word }: Word) => !STOP.has(word) && !asked.has(word);
  if (isHan) return sentence.length < MIN_SENTENCE.han || shares(sentence, asked) ? "competes" : "neither";
  if (words.length < MIN_SENTENCE.words && words.some(isNew)) return "competes";
  const isAbout = asked.words.length === 0 || words.some(({ word }) => !STOP.has(word) && asked.has(word));
  const isSubject = words.length > 1 && isNew(words[0] as Word) && COPULAS.has(words[1]?.word ?? "");
  const isNamed = words.slice(1).some((word) => word.isName && isNew(word));
  const isName = /^\p{Lu}/u.test(wanted) || values !== undefined;
  const follows = words.some((word, index) => {
    const before = words.slice(0, index).findLast(({ word: own }) => !SKIPPED.has(own));
    return isNew(word) && (word.isName || !isName) && COPULAS.has(before?.word ?? "");
  });
  if (follows || (isAbout && (isSubject || isNamed || !isName))) return "competes";
  return "neither";
}

/** Whether Chinese text shares two characters in a row with the question, besides the commonest. */
function shares(sentence: string, { text }: Asked): boolean {
  const pairs = [...sentence.matchAll(/(?=(\p{Script=Han}{2}))/gu)].map(([, pair]) => pair as string);
  return pairs.some((pair) => text.includes(pair));
}

function placesOf(wanted: string, sentence: string): { at: number; end: number }[] {
  if (/\p{Script=Han}/u.test(wanted)) {
    const at = sentence.indexOf(wanted);
    return at === -1 ? [] : [{ at, end: at + wanted.length }];
  }
  const target = wordsOf(wanted).filter(({ word }, index) => index > 0 || !["the", "a", "an"].includes(word));
  const words = wordsOf(sentence);
  if (target.length === 0 || target.length > 12) return [];
  return words.flatMap((first, start) => {
    const found = words.slice(start, start + target.length);
    const isSame =
      found.length === target.length &&
      found.every(({ word, isName }, index) => {
        const own = target[index] as Word;
        return word === own.word && (word.length > 1 || isName === own.isName);
      });
    return isSame ? [{ at: first.at, end: (found.at(-1) as Word).end }] : [];
  });
}

type Standing = { asked: Asked; isValue: boolean };

function standsAsAnswer(
  sentence: string,
  { at, end }: { at: number; end: number },
  { asked, isValue }: Standing,
): boolean {
  const before = wordsOf(sentence.slice(0, at));
  const after = wordsOf(sentence.slice(end));
  const isNew = ({ word }: Word) => !STOP.has(word) && !asked.has(word);
  // sentences begin with a capital letter anyway
  const isOther = (word: Word) =>
    asked.isOption(word) || (word.isName && isNew(word) && !(word.at === 0 && word === before[0]));
  if (before.some(isOther) || after.some(isOther)) return false;
  if (!fitsAfter(after, sentence.slice(end), isNew, isValue)) return false;
  while (before.length > 0 && SKIPPED.has(before.at(-1)?.word ?? "")) before.pop();
  const link = before.pop()?.word;
  if (link === undefined) return !COPULAS.has(after[0]?.word ?? "") || after.some((word) => isRepeated(word, asked));
  return LINKS.has(link) && before.every((word) => !isNew(word));
}

/** "Paris is in France" says nothing of a capital. */
function isRepeated({ word, isName }: Word, asked: Asked): boolean {
  return !isName && (word === "answer" || word === "correct" || (!STOP.has(word) && asked.has(word)));
}

/** Nothing new behind it, but for a number's unit and what is counted, and asides in small letters. */
function fitsAfter(after: Word[], text: string, isNew: (word: Word) => boolean, isValue: boolean): boolean {
  if (/^(?:\+|\s*(?:and|&|\/|,\s*and)\b)/i.test(text)) return false;
  const [first] = after;
  if (first?.isName && /^ \p{Lu}/u.test(text)) return false; // a longer name
  if (isValue) return first === undefined || !isNew(first) || isUnit(first.word);
  if (/^,? (?:- )?\(?(?:which|who|because)\b/.test(text)) return true;
  return after.every((word) => !isNew(word));
}

const HAN_STOP = "的了是为在于由有共答案结果它这那他她总数一座个该作者名字叫做度我认为";

/** 首都是巴黎。 or 巴黎是法国的首都。 */
function standsInHan(
  sentence: string,
  { at, end }: { at: number; end: number },
  { asked, isValue }: Standing,
): boolean {
  const before = sentence.slice(0, at).trim();
  const after = sentence
    .slice(end)
    .replace(/[。！!.，,\s]+$/, "")
    .trim();
  const isAsked = (text: string) =>
    [...text.matchAll(/[\p{L}\p{N}]/gu)].every(([sign]) => asked.text.includes(sign) || HAN_STOP.includes(sign));
  const closes = after === "" || (isValue && /^(?![多余几来])\p{Script=Han}{1,3}$/u.test(after));
  const link = /(?:是|为|叫|叫做|名叫|在|于|由|有|共|约|大约|达|：|:|=)+$/.exec(before);
  if (closes) return before === "" || (link !== null && isAsked(before.slice(0, link.index)));
  const rest = /^(?:就?是|为|位于)(.*)$/.exec(after)?.[1];
  if (before !== "" || rest === undefined) return false;
  return isAsked(rest);
}
