// A request's body as bytes. Each request of a dialogue repeats the messages of the one before and adds a few: those are
// written, the others copied.
import type { ChatMessage } from "../core/index.ts";
import { BytePool } from "./byte-pool.ts";

/** A request's body. It has two readers, whom it was sent to and the next body of its dialogue; each releases it once. */
export type Body = { readonly bytes: Buffer; release(): void };

type Held = { messages: readonly ChatMessage[]; start: number; end: number };

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
    const known = findPrefix(bodies, messages);
    const copied = known ? known.bytes.subarray(known.held.start, known.held.end) : NOTHING;
    let added = "";
    for (let at = known?.held.messages.length ?? 0; at < messages.length; at++) {
      const text = write(messages[at] as ChatMessage);
      if (text !== "") added += added !== "" || copied.length > 0 ? `,${text}` : text;
    }
    const start = sizeOf(before);
    const end = start + copied.length + Buffer.byteLength(added);
    const bytes = pool.take(end + sizeOf(after));
    writeParts(bytes, before, 0);
    bytes.set(copied, start);
    bytes.write(added, start + copied.length);
    writeParts(bytes, after, end);
    known?.release();
    const body = new Written(bytes, { messages, start, end }, pool);
    const last = messages.at(-1);
    if (last) bodies.set(last, body);
    return body;
  };
}

const NOTHING = Buffer.alloc(0);

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

/** The longest body of the same dialogue so far. It is taken out: the next one holds all of it. */
function findPrefix(bodies: WeakMap<ChatMessage, Written>, messages: readonly ChatMessage[]): Written | undefined {
  for (let at = messages.length - 1; at >= 0; at--) {
    const last = messages[at] as ChatMessage;
    const known = bodies.get(last);
    if (!known) continue;
    const { messages: before } = known.held;
    const isPrefix = before.length === at + 1 && before.every((message, n) => message === messages[n]);
    if (isPrefix) bodies.delete(last);
    return isPrefix ? known : undefined;
  }
  return undefined;
}
