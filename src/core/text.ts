// Text that every UTF-8 reader accepts.

type MaybeIllFormed = string & { isWellFormed(): boolean; toWellFormed(): string };

/** Lone surrogates become U+FFFD. */
export function wellFormed(text: string): string {
  const checked = text as MaybeIllFormed;
  return checked.isWellFormed() ? text : checked.toWellFormed();
}
