// A request's body as bytes. Each request of a dialogue repeats the messages of the one before and adds a few: those are
// written, the others copied.
import type { ChatMessage } from "../core/index.ts";

/** What a body held of a dialogue, and where in it. */
type Written = { messages: readonly ChatMessage[]; bytes: Buffer; start: number; end: number };

type Around = { before: string; after: string };

/** `write` turns a message into JSON, into several values with commas between them, or into nothing. */
export function createMessageWriter(
  write: (message: ChatMessage) => string,
): (messages: readonly ChatMessage[], around: Around) => Buffer {
  /** by the last message that a body held, which lives no longer than its dialogue */
  const bodies = new WeakMap<ChatMessage, Written>();

  return (messages, { before, after }) => {
    const known = findPrefix(bodies, messages);
    const added = messages
      .slice(known?.messages.length ?? 0)
      .map(write)
      .filter((text) => text !== "")
      .join(",");
    const start = Buffer.byteLength(before);
    const copied = known ? known.end - known.start : 0;
    const text = copied > 0 && added !== "" ? `,${added}` : added;
    const end = start + copied + Buffer.byteLength(text);
    const bytes = Buffer.allocUnsafeSlow(end + Buffer.byteLength(after));
    bytes.write(before, 0);
    if (known) known.bytes.copy(bytes, start, known.start, known.end);
    bytes.write(text, start + copied);
    bytes.write(after, end);
    const last = messages.at(-1);
    if (last) bodies.set(last, { messages, bytes, start, end });
    return bytes;
  };
}

/** The longest body of the same dialogue so far. It is taken out: the next one holds all of it. */
function findPrefix(bodies: WeakMap<ChatMessage, Written>, messages: readonly ChatMessage[]): Written | undefined {
  for (let at = messages.length - 1; at >= 0; at--) {
    const last = messages[at] as ChatMessage;
    const known = bodies.get(last);
    if (!known) continue;
    const isPrefix = known.messages.length === at + 1 && known.messages.every((message, n) => message === messages[n]);
    if (isPrefix) bodies.delete(last);
    return isPrefix ? known : undefined;
  }
  return undefined;
}
