// Bytes that are used again. A body is garbage as soon as its dialogue has written the next one, and what lies outside of
// V8's heap counts against it: with a body of 20 KB for each call, Node 20 collects its whole heap every second or two.

const SMALLEST = 8 << 10;
/** Larger ones are rare, and not kept. */
const LARGEST = 1 << 20;
const MOST_FREE = 32 << 20;

export class BytePool {
  /** by how long they are */
  readonly #free = new Map<number, ArrayBufferLike[]>();
  #freeBytes = 0;

  /** So many bytes, with whatever they held before. */
  take(size: number): Buffer {
    const room = roomFor(size);
    const used = this.#free.get(room)?.pop();
    if (used) this.#freeBytes -= room;
    return Buffer.from(used ?? Buffer.allocUnsafeSlow(room).buffer, 0, size);
  }

  /** For what `take` handed out and nobody reads or writes any more. */
  give({ buffer }: Buffer): void {
    const room = buffer.byteLength;
    if (room > LARGEST || this.#freeBytes + room > MOST_FREE) return;
    const free = this.#free.get(room);
    if (free) free.push(buffer);
    else this.#free.set(room, [buffer]);
    this.#freeBytes += room;
  }
}

/** Powers of two and what lies half-way between them: a body that grows with its dialogue seldom needs a larger room. */
function roomFor(size: number): number {
  if (size <= SMALLEST) return SMALLEST;
  if (size > LARGEST) return size;
  const half = 2 ** (30 - Math.clz32(size - 1));
  return Math.ceil(size / half) * half;
}
