// Text that every UTF-8 reader accepts, and no longer than there is room for.

type MaybeIllFormed = string & { isWellFormed(): boolean; toWellFormed(): string };

/** Lone surrogates become U+FFFD. */
export function wellFormed(text: string): string {
  const checked = text as MaybeIllFormed;
  return checked.isWellFormed() ? text : checked.toWellFormed();
}

/** The same for a JSON text, in which halves may also be escaped; whole pairs stay, escaped or not. */
export function wellFormedJson(json: string): string {
  const text = wellFormed(json);
  if (!HALF.test(text)) return text;
  return text.replace(EACH_ESCAPE, (part) => (part.length === 6 && HALF.test(part) ? "\ufffd" : part));
}

const HALF = /\\u[dD][89a-fA-F]/;
const EACH_ESCAPE = /\\(?:u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|u[\da-fA-F]{4}|.)/gs;

/** At most so long, the last character being "…" if it was longer. */
export function cutText(text: string, length: number): string {
  return text.length <= length ? text : `${wellFormed(text.slice(0, length - 1))}…`;
}

/** A word quoted for a shell. */
export function quote(text: string): string {
  return /^[\w./:@%+=,-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
