// A document in pages of a length that a model reads at once, and the part of a page that shows why it was found.
import { cutText, wellFormed } from "../../core/index.ts";
import { splitWords } from "./tokens.ts";

const PAGE_LENGTH = 4000;
const SNIPPET_LENGTH = 300;

/** Where a page is best ended: between paragraphs, lines, sentences, words. */
const ENDS = [/\n\s*\n/g, /\n/g, /[.!?]\s|[。！？]/g, /\s/g];

/** At least one, also of an empty text. The pages together are the text. */
export function splitPages(text: string): string[] {
  const pages: string[] = [];
  let rest = 0;
  while (text.length - rest > PAGE_LENGTH) {
    const window = text.slice(rest, rest + PAGE_LENGTH);
    const length = lastEnd(window);
    pages.push(window.slice(0, length));
    rest += length;
  }
  return [...pages, text.slice(rest)];
}

/** In the second half of the window; if nothing ends there, all of it, but never half a character. */
function lastEnd(window: string): number {
  for (const end of ENDS) {
    let last = 0;
    for (const match of window.matchAll(end)) last = match.index + match[0].length;
    if (last > window.length / 2) return last;
  }
  return /[\ud800-\udbff]$/.test(window) ? window.length - 1 : window.length;
}

/** The sentences around the place that has most of the words. */
export function findSnippet(page: string, words: ReadonlySet<string>): string {
  const sentences = page.split(/(?<=[.!?]\s|[。！？\n])/).flatMap((sentence) => sentence.match(PIECES) ?? []);
  const counts = sentences.map((sentence) => new Set(splitWords(sentence).filter((word) => words.has(word))).size);
  let start = counts.indexOf(Math.max(...counts));
  let snippet = sentences[start] ?? "";
  for (let next = start + 1; next < sentences.length; next++) {
    const longer = snippet + sentences[next];
    if (longer.length > SNIPPET_LENGTH) break;
    snippet = longer;
  }
  while (start > 0 && snippet.length + (sentences[start - 1] as string).length <= SNIPPET_LENGTH)
    snippet = sentences[--start] + snippet;
  return cutText(wellFormed(snippet).replace(/\s+/g, " ").trim(), SNIPPET_LENGTH);
}

const PIECES = new RegExp(`[\\s\\S]{1,${SNIPPET_LENGTH}}`, "gu");
