// Text that every UTF-8 reader accepts, and no longer than there is room for.

type MaybeIllFormed = string & { isWellFormed(): boolean; toWellFormed(): string };

/** Lone surrogates become U+FFFD. */
export function wellFormed(text: string): string {
  const checked = text as MaybeIllFormed;
  return checked.isWellFormed() ? text : checked.toWellFormed();
}

/** At most so long, the last character being "…" if it was longer. */
export function cutText(text: string, length: number): string {
  return text.length <= length ? text : `${wellFormed(text.slice(0, length - 1))}…`;
}
