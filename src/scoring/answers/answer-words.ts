// The words of replies and questions, and what each kind of them does in a sentence that states an answer.

/** The words of the question: what a sentence may repeat of it is no other answer. */
export class Asked {
  readonly words: string[];
  readonly text: string;
  /** it names the answers to choose from */
  readonly isChoice: boolean;
  readonly #names: Set<string>;

  constructor(question: string) {
    this.text = question;
    const words = wordsOf(question);
    this.words = words.map(({ word }) => word);
    this.isChoice = /\bor\b|还是|或/i.test(question);
    this.#names = new Set(words.flatMap(({ word, isName, at }) => (isName && at > 0 ? [word] : [])));
  }

  /** Whether a word may be another of the answers that it names. */
  isOption({ word }: Word): boolean {
    return this.isChoice && this.#names.has(word);
  }

  has(word: string): boolean {
    return this.words.some((own) => own === word || (Math.min(own.length, word.length) >= 4 && sameStem(own, word)));
  }
}

function sameStem(a: string, b: string): boolean {
  const [short, long] = a.length < b.length ? [a, b] : [b, a];
  return long.startsWith(short.replace(/(?:es?|y)$/, "")) && long.length - short.length <= 3;
}

export type Word = { word: string; isName: boolean; at: number; end: number };

export function wordsOf(text: string): Word[] {
  return [...text.matchAll(/[\p{L}\p{M}\p{N}]+(?:[-'./&][\p{L}\p{M}\p{N}]+)*[+#]*|[=:→≈]/gu)].map(
    ({ 0: word, index }) => ({
      word: word.toLowerCase(),
      isName: /^\p{Lu}/u.test(word),
      at: index,
      end: index + word.length,
    }),
  );
}

export const STOP = new Set(
  "the a an of in on at to for by with from as it its it's this that that's these those there here is was are were be been being has have had do does did will can which who whom whose what when where why how i you he she they we his her their our my me your answer final correct question so thus therefore hence and also called named known located situated found says say think believe result results number name value total right solution date year person city country place about approximately around roughly exactly = : → ≈".split(
    " ",
  ),
);
export const COPULAS = new Set([
  "is",
  "was",
  "are",
  "were",
  "be",
  "equals",
  "=",
  ":",
  "→",
  "it's",
  "that's",
  "he's",
  "she's",
  "named",
  "called",
  "say",
  "remains",
  "became",
]);
export const LINKS = new Set([
  ...COPULAS,
  "in",
  "on",
  "at",
  "by",
  "as",
  "to",
  "of",
  "for",
  "has",
  "have",
  "had",
  "contains",
  "with",
  "from",
  "≈",
  "year",
  "costs",
  "weighs",
  "measures",
  "totals",
]);
export const SKIPPED = new Set(["the", "a", "an", "about", "approximately", "around", "roughly", "exactly"]);
