// Records that say nearly the same: the Jaccard similarity of their word shingles, estimated by MinHash; bands of equal
// hashes find the candidates. Kept: a signature for each group, 96 numbers, and its place in 16 bands.
import { canonicalJson } from "../../core/index.ts";
import type { ExportRecord } from "../record.ts";
import { parseArguments } from "../training-dialogue.ts";

export type NearDuplicateReport = {
  /** records that are like an earlier one */
  records: number;
  /** groups of at least two */
  groups: number;
  largest_group: number;
  examples: { ids: [string, string]; similarity: number }[];
};

const ROWS = 6;
const BANDS = 16;
const HASHES = ROWS * BANDS;
const ALIKE = 0.8;
const SHINGLE = 3;
const MAX_EXAMPLES = 5;
const MAX_IN_BUCKET = 50;

/** Groups by the hash of their rows; most have it to themselves. */
type Band = Map<number, number | number[]>;
type Group = { id: string; signature: Uint32Array; size: number };

export class NearDuplicates {
  readonly #groups: Group[] = [];
  readonly #bands = Array.from({ length: BANDS }, (): Band => new Map());
  readonly #examples: NearDuplicateReport["examples"] = [];

  see(record: ExportRecord): void {
    const signature = signText(wordsOf(record));
    const keys = this.#bands.map((_, band) => signature.subarray(band * ROWS, (band + 1) * ROWS).reduce(join, band));
    const candidates = new Set(keys.flatMap((key, band) => this.#bands[band]?.get(key) ?? []));
    for (const index of candidates) {
      const group = this.#groups[index] as Group;
      const similarity = estimateSimilarity(group.signature, signature);
      if (similarity < ALIKE) continue;
      if (group.size === 1 && this.#examples.length < MAX_EXAMPLES)
        this.#examples.push({ ids: [group.id, record.id], similarity });
      group.size++;
      return;
    }
    const index = this.#groups.push({ id: record.id, signature, size: 1 }) - 1;
    for (const [band, key] of keys.entries()) addTo(this.#bands[band] as Band, key, index);
  }

  report(): NearDuplicateReport {
    const groups = this.#groups.filter(({ size }) => size > 1);
    return {
      records: groups.reduce((sum, { size }) => sum + size - 1, 0),
      groups: groups.length,
      largest_group: groups.reduce((most, { size }) => Math.max(most, size), 0),
      examples: this.#examples,
    };
  }
}

/** A hash that very many groups have says little, and comparing with all of them would take long. */
function addTo(band: Band, key: number, index: number): void {
  const known = band.get(key);
  if (known === undefined) band.set(key, index);
  else if (typeof known === "number") band.set(key, [known, index]);
  else if (known.length < MAX_IN_BUCKET) known.push(index);
}

/** The user's words, and the agent's words and calls, in their order. */
function wordsOf({ messages }: ExportRecord): string {
  const parts = messages.flatMap((message) => {
    if (message.role === "tool") return [];
    if (message.role === "user") return [message.content];
    const calls = (message.tool_calls ?? []).map(({ function: call }) => {
      const given = parseArguments(call.arguments);
      return `${call.name} ${given ? canonicalJson(given) : call.arguments}`;
    });
    return [message.content, ...calls];
  });
  return parts.join("\n");
}

/** For each of the hash functions, the least hash of all shingles. */
export function signText(text: string): Uint32Array {
  const words = (text.toLowerCase().match(WORD) ?? []).map(hashWord);
  const signature = new Uint32Array(HASHES).fill(0xffffffff);
  for (let index = 0; index <= Math.max(0, words.length - SHINGLE); index++) {
    const shingle = words.slice(index, index + SHINGLE).reduce(join, 0);
    for (let hash = 0; hash < HASHES; hash++) {
      const mixed = mix(shingle ^ (SEEDS[hash] as number));
      if (mixed < (signature[hash] as number)) signature[hash] = mixed;
    }
  }
  return signature;
}

export function estimateSimilarity(a: Uint32Array, b: Uint32Array): number {
  let equal = 0;
  for (let hash = 0; hash < HASHES; hash++) if (a[hash] === b[hash]) equal++;
  return equal / HASHES;
}

/** Scripts that are written without spaces have a word for each character. */
const WORD = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]|[\p{L}\p{M}\p{N}_]+/gu;

function hashWord(word: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < word.length; index++) hash = Math.imul(hash ^ word.charCodeAt(index), 0x01000193);
  return mix(hash);
}

function join(hash: number, next: number): number {
  return mix(Math.imul(hash, 31) + next);
}

/** Every bit of the number decides about every bit of the result. */
function mix(number: number): number {
  let mixed = Math.imul(number ^ (number >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}

const SEEDS = Uint32Array.from({ length: HASHES }, (_, index) => mix(index + 1));
