// BM25 over numbered texts, in typed arrays: about five bytes for each word of each text. Why not a library:
// docs/decisions/2026-11-16-an-index-of-our-own.md.

/** The usual values: how fast repetition stops to count, and how much long texts are held back. */
const K1 = 1.2;
const B = 0.75;
const COUNTS = 256;
const MAX_COUNT = COUNTS - 1;

export type Hit = { text: number; score: number };

type Postings = { texts: Uint32Array; counts: Uint8Array; size: number };

export class Bm25 {
  /** a word that only one text has, as most do, needs no arrays: the text's number, and how often */
  readonly #postings = new Map<string, Postings | number>();
  #lengths = new Uint32Array(1024);
  #size = 0;
  #words = 0;
  /** of the search that is being made; zero everywhere in between */
  #scores = new Float64Array(0);

  /** Its number is how many there were before. */
  add(words: readonly string[]): void {
    const text = this.#size++;
    if (text === this.#lengths.length) this.#lengths = grown(this.#lengths);
    this.#lengths[text] = words.length;
    this.#words += words.length;
    for (const word of words) this.#count(word, text);
  }

  #count(word: string, text: number): void {
    const known = this.#postings.get(word);
    if (known === undefined) {
      // a copy: what was cut out of a text would keep all of it in memory
      this.#postings.set(Buffer.from(word).toString(), text * COUNTS + 1);
      return;
    }
    if (typeof known === "number" && Math.floor(known / COUNTS) === text) {
      if (known % COUNTS < MAX_COUNT) this.#postings.set(word, known + 1);
      return;
    }
    const postings = typeof known === "number" ? toPostings(known) : known;
    if (postings !== known) this.#postings.set(word, postings);
    const last = postings.size - 1;
    if (postings.texts[last] === text) {
      if ((postings.counts[last] as number) < MAX_COUNT) (postings.counts[last] as number)++;
      return;
    }
    if (postings.size === postings.texts.length) {
      postings.texts = grown(postings.texts);
      postings.counts = grown(postings.counts);
    }
    postings.texts[postings.size] = text;
    postings.counts[postings.size++] = 1;
  }

  /** The best first; of equals, the one that was added first. */
  search(words: readonly string[], limit: number): Hit[] {
    if (this.#scores.length < this.#size) this.#scores = new Float64Array(this.#size);
    const scores = this.#scores;
    const found: number[] = [];
    const average = this.#words / Math.max(this.#size, 1);
    for (const word of new Set(words)) {
      const known = this.#postings.get(word);
      if (known === undefined) continue;
      const { texts, counts, size } = typeof known === "number" ? toPostings(known) : known;
      const rarity = Math.log(1 + (this.#size - size + 0.5) / (size + 0.5)) * (K1 + 1);
      for (let at = 0; at < size; at++) {
        const text = texts[at] as number;
        const count = counts[at] as number;
        const held = K1 * (1 - B + (B * (this.#lengths[text] as number)) / average);
        if (scores[text] === 0) found.push(text);
        (scores[text] as number) += (rarity * count) / (count + held);
      }
    }
    const hits = best(found, scores, limit);
    for (const text of found) scores[text] = 0;
    return hits;
  }
}

function toPostings(single: number): Postings {
  const texts = Uint32Array.of(Math.floor(single / COUNTS), 0);
  return { texts, counts: Uint8Array.of(single % COUNTS, 0), size: 1 };
}

function best(found: readonly number[], scores: Float64Array, limit: number): Hit[] {
  const hits: Hit[] = [];
  for (const text of found) {
    const score = scores[text] as number;
    if (hits.length === limit && !isBetter(score, text, hits[limit - 1] as Hit)) continue;
    let at = hits.length;
    while (at > 0 && isBetter(score, text, hits[at - 1] as Hit)) at--;
    hits.splice(at, 0, { text, score });
    if (hits.length > limit) hits.pop();
  }
  return hits;
}

function isBetter(score: number, text: number, than: Hit): boolean {
  return score > than.score || (score === than.score && text < than.text);
}

function grown<T extends Uint32Array | Uint8Array>(array: T): T {
  const larger = new (array.constructor as new (size: number) => T)(array.length * 2);
  larger.set(array);
  return larger;
}
