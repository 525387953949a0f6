// Where each recorded call is in a file, in less than 100 bytes per call: a cassette of a hundred thousand rollouts has millions.
import { contentHash } from "../../core/index.ts";
import type { Extent } from "../../files/index.ts";

/** Adding a name again replaces the earlier entry. */
export class CallIndex {
  #size = 0;
  #hashes = new Float64Array(1024);
  #offsets = new Float64Array(1024);
  #lengths = new Uint32Array(1024);
  /** open addressing: the number of a call, from 1, at the first free slot from its hash on */
  #slots = new Uint32Array(4096);

  set(name: string, { offset, length }: Extent): void {
    if (this.#size === this.#hashes.length) this.#grow();
    const hash = hashOf(name);
    const slot = this.#slotOf(hash);
    const number = this.#slots[slot] || ++this.#size;
    this.#slots[slot] = number;
    this.#hashes[number - 1] = hash;
    this.#offsets[number - 1] = offset;
    this.#lengths[number - 1] = length;
  }

  get(name: string): Extent | undefined {
    const number = this.#slots[this.#slotOf(hashOf(name))];
    if (!number) return undefined;
    return { offset: this.#offsets[number - 1] as number, length: this.#lengths[number - 1] as number };
  }

  #slotOf(hash: number): number {
    const mask = this.#slots.length - 1;
    let slot = hash % this.#slots.length;
    while (this.#slots[slot] && this.#hashes[(this.#slots[slot] as number) - 1] !== hash) slot = (slot + 1) & mask;
    return slot;
  }

  #grow(): void {
    const capacity = this.#hashes.length * 2;
    this.#hashes = copyInto(new Float64Array(capacity), this.#hashes);
    this.#offsets = copyInto(new Float64Array(capacity), this.#offsets);
    this.#lengths = copyInto(new Uint32Array(capacity), this.#lengths);
    this.#slots = new Uint32Array(capacity * 4);
    for (let number = 1; number <= this.#size; number++)
      this.#slots[this.#slotOf(this.#hashes[number - 1] as number)] = number;
  }
}

function copyInto<T extends Float64Array | Uint32Array>(larger: T, smaller: T): T {
  larger.set(smaller);
  return larger;
}

/** 52 bits of SHA-256: among ten million names the chance of a clash is about one in a hundred. */
function hashOf(name: string): number {
  return Number.parseInt(contentHash(name).slice(0, 13), 16);
}
