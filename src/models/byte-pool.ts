// Bytes that are used again. A body is garbage as soon as its dialogue has written the next one, and what lies outside of
// V8's heap counts against it: with a body of 20 KB for each call, Node 20 collects its whole heap every second or two.

const STEP_BYTES = 8 << 10;
/** Larger ones are rare. */
const LARGEST = 1 << 20;
const MOST_FREE = 32 << 20;

export class BytePool {
  /** by how many steps long they are */
  readonly #free: ArrayBufferLike[][] = [];
  #freeBytes = 0;

  /** So many bytes, with whatever they held before. */
  take(size: number): Buffer {
    const steps = Math.ceil(size / STEP_BYTES);
    const used = this.#free[steps]?.pop();
    if (used) this.#freeBytes -= used.byteLength;
    return Buffer.from(used ?? Buffer.allocUnsafeSlow(steps * STEP_BYTES).buffer, 0, size);
  }

  /** For what `take` handed out and nobody reads or writes any more. */
  give({ buffer }: Buffer): void {
    if (buffer.byteLength > LARGEST || this.#freeBytes + buffer.byteLength > MOST_FREE) return;
    const steps = buffer.byteLength / STEP_BYTES;
    this.#free[steps] ??= [];
    this.#free[steps].push(buffer);
    this.#freeBytes += buffer.byteLength;
  }
}
