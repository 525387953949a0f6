// Texts as every reader of UTF-8 takes them.

type MaybeIllFormed = string & { isWellFormed(): boolean; toWellFormed(): string };

/** Halves of surrogate pairs become U+FFFD. */
export function wellFormed(text: string): string {
  const checked = text as MaybeIllFormed;
  return checked.isWellFormed() ? text : checked.toWellFormed();
}
