// A request's body as bytes. Each request of a dialogue repeats the messages of the one before, up to the first that a new
// turn has changed, and adds a few: those are written, the others copied.
import type { ChatMessage } from "../core/index.ts";
import { BytePool } from "./byte-pool.ts";

/** A request's body. It has two readers, whom it was sent to and the next body of its dialogue; each releases it once. */
export type Body = { readonly bytes: Buffer; release(): void };

/** `ends`: for each message, where its text ends, counted from the start of the first. */
type Held = { messages: readonly ChatMessage[]; start: number; ends: number[] };

/** What a body held of a dialogue, and where in it. */
class Written implements Body {
  readonly bytes: Buffer;
  readonly held: Held;
  readonly #pool: BytePool;
  #readers = 2;

  constructor(bytes: Buffer, held: Held, pool: BytePool) {
    this.bytes = bytes;
    this.held = held;
    this.#pool = pool;
  }

  release(): void {
    if (--this.#readers === 0) this.#pool.give(this.bytes);
  }
}

/** What stands around the messages; bytes are what many requests share. */
type Part = string | Buffer;
type Around = { before: readonly Part[]; after: readonly Part[] };

/** `write` turns a message into JSON, into several values with commas between them, or into nothing. */
export function createMessageWriter(
  write: (message: ChatMessage) => string,
): (messages: readonly ChatMessage[], around: Around) => Body {
  /** by the last message that a body held, which lives no longer than its dialogue */
  const bodies = new WeakMap<ChatMessage, Written>();
  const pool = new BytePool();

  return (messages, { before, after }) => {
    const known = takeKnown(bodies, messages);
    // nobody else reads what was taken: its list goes on
    const ends = known?.held.ends ?? [];
    const copied = ends.at(-1) ?? 0;
    let added = "";
    let size = copied;
    for (let at = ends.length; at < messages.length; at++) {
      const text = write(messages[at] as ChatMessage);
      const more = text !== "" && size > 0 ? `,${text}` : text;
      added += more;
      size += Buffer.byteLength(more);
      ends.push(size);
    }
    const start = sizeOf(before);
    const bytes = pool.take(start + size + sizeOf(after));
    writeParts(bytes, before, 0);
    if (known) bytes.set(known.bytes.subarray(known.held.start, known.held.start + copied), start);
    bytes.write(added, start + copied);
    writeParts(bytes, after, start + size);
    known?.release();
    const body = new Written(bytes, { messages, start, ends }, pool);
    const last = messages.at(-1);
    if (last) bodies.set(last, body);
    return body;
  };
}

function sizeOf(parts: readonly Part[]): number {
  let size = 0;
  for (const part of parts) size += typeof part === "string" ? Buffer.byteLength(part) : part.length;
  return size;
}

function writeParts(bytes: Buffer, parts: readonly Part[], start: number): void {
  let at = start;
  for (const part of parts) {
    if (typeof part === "string") at += bytes.write(part, at);
    else {
      bytes.set(part, at);
      at += part.length;
    }
  }
}

/** The latest body of the same dialogue, taken out and cut to the messages that are still the same. */
function takeKnown(bodies: WeakMap<ChatMessage, Written>, messages: readonly ChatMessage[]): Written | undefined {
  for (let at = messages.length - 1; at >= 0; at--) {
    const last = messages[at] as ChatMessage;
    const known = bodies.get(last);
    if (!known) continue;
    const { messages: before, ends } = known.held;
    let same = 0;
    while (same < before.length && before[same] === messages[same]) same++;
    if (same === 0) return undefined;
    bodies.delete(last);
    ends.length = same;
    return known;
  }
  return undefined;
}
