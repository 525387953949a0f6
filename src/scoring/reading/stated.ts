// Amounts, dates, times, counts and identifiers that a text states and nothing known bears out.
import { identifiersIn, numbersIn } from "../values.ts";
import { countsIn, statedNumbers } from "./amounts.ts";
import { datesIn, datesWithText, promisesIn, relativeSpans, spansIn, timesWithText } from "./dates.ts";
import type { Known } from "./known.ts";
import { isQuestion, plainText, sentencesOf } from "./sentences.ts";

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
    const counts = countsIn(sentence).filter((count) => !known.hasCount(count, told));
    const identifiers = [...identifiersIn(sentence), ...phonesIn(sentence)].filter(
      (value) => !known.hasIdentifier(value) && datesIn(value).length === 0 && !GENERAL.has(value),
    );
    const isRounded = ROUNDED.test(sentence);
    const shares = SHARED.test(sentence) ? [...told, ...asked] : [];
    const beside = { told, money, asked, shares };
    const rest = cutOut(sentence);
    const numbers = statedNumbers(rest).filter(({ value: { number, isMoney, isDays } }) => {
      if (isDays && known.hasSpan({ text: "", days: number, isBusiness: false })) return false;
      return !(isMoney ? known.hasAmount(number, beside, isRounded) : known.hasNumber(number, beside, isRounded));
    });
    return [
      ...dates.map(({ text: written }) => found(written)),
      ...times.map(({ text: written }) => found(written)),
      ...promises.map(({ text: written }) => found(written)),
      ...counts.map(({ text: written }) => found(written)),
      ...identifiers.map(found),
      ...numbers.map(({ text: written }) => found(written)),
    ];
  });
}

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

function phonesIn(text: string): string[] {
  return [...text.matchAll(/(?<![\w-])(?:\+?\d{1,2}[ .-])?(?:\(\d{3}\)\s?|\d{3}[ .-])?\d{3}[ .-]\d{4}(?![\w-])/g)].map(
    ([phone]) => phone,
  );
}
