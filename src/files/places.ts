// Where many things have their lines in one file, in little memory: sixteen bytes for each line, a number for each thing.
import type { Extent } from "./lines.ts";

const CHUNK = 1 << 15;
const NONE = -1;

type Chunk = { offsets: Float64Array; lengths: Uint32Array; before: Int32Array };

export class Places {
  /** by key: the number of its latest line, each of which knows the one before it */
  readonly #last = new Map<string, number>();
  #chunks: Chunk[] = [];
  #count = 0;

  has(key: string): boolean {
    return this.#last.has(key);
  }

  add(key: string, { offset, length }: Extent): void {
    const at = this.#count % CHUNK;
    if (at === 0)
      this.#chunks.push({
        offsets: new Float64Array(CHUNK),
        lengths: new Uint32Array(CHUNK),
        before: new Int32Array(CHUNK),
      });
    const { offsets, lengths, before } = this.#chunks.at(-1) as Chunk;
    offsets[at] = offset;
    lengths[at] = length;
    before[at] = this.#last.get(key) ?? NONE;
    this.#last.set(key, this.#count++);
  }

  /** In the order in which they were added. */
  of(key: string): Extent[] {
    return this.#numbers(key).map((number) => {
      const { offsets, lengths } = this.#chunks[Math.floor(number / CHUNK)] as Chunk;
      return { offset: offsets[number % CHUNK] as number, length: lengths[number % CHUNK] as number };
    });
  }

  /** Forgets all of its lines but the first ones. */
  keep(key: string, count: number): void {
    const last = this.#numbers(key)[count - 1];
    if (last === undefined && count > 0) return;
    if (last === undefined) this.#last.delete(key);
    else this.#last.set(key, last);
  }

  clear(): void {
    this.#last.clear();
    this.#chunks = [];
    this.#count = 0;
  }

  #numbers(key: string): number[] {
    const numbers: number[] = [];
    for (let number = this.#last.get(key) ?? NONE; number !== NONE; ) {
      numbers.push(number);
      number = this.#chunks[Math.floor(number / CHUNK)]?.before[number % CHUNK] ?? NONE;
    }
    return numbers.reverse();
  }
}
