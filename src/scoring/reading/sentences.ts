// Texts cut into the pieces that rules read one by one.

/** Plain apostrophes and quotes, no markdown emphasis: rules are written for that. */
export function plainText(text: string): string {
  return text
    .normalize("NFKC")
    .replace(/[‘’ʼ`´]/g, "'")
    .replace(/[“”«»]/g, '"')
    .replace(/\*\*|__/g, "");
}

/** Each with its closing mark. Points inside numbers, times and addresses do not end one. */
export function sentencesOf(text: string): string[] {
  return plainText(text)
    .split(/(?<=[!?。！？])\s*|(?<=(?<!\b(?:Dr|Prof|Mr|Mrs|Ms|St|No|approx|e\.g|i\.e|a\.m|p\.m))\.)\s+|\n+/u)
    .map((sentence) => sentence.trim())
    .filter((sentence) => sentence !== "");
}

/** Sentences cut further at commas, dashes and words that turn the meaning. */
export function clausesOf(text: string): string[] {
  return sentencesOf(text)
    .flatMap((sentence) =>
      sentence.split(/[,;:，；：、]\s*|\s[-–—]+\s|—|…|\.{2,}|\s+(?=(?:but|although|though|however|actually|then)\b)/iu),
    )
    .map((clause) => clause.trim())
    .filter((clause) => /[\p{L}\p{N}\p{Extended_Pictographic}]/u.test(clause));
}

export function isQuestion(sentence: string): boolean {
  return /[?？]\s*["')]*$/.test(sentence);
}
