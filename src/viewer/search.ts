// Search in the texts of a run's dialogues: the record files are read once more, in slices, and whoever asks meanwhile
// gets what was found until then. ASCII letters match in either case. What is found is kept, and grows with the run.
import { closeSync, openSync, readSync } from "node:fs";
import type { SearchState } from "./api.ts";
import type { IndexedRow } from "./rows.ts";

const CHUNK_BYTES = 2 << 20;
const SLICE_MS = 12;
/** A search that nobody has asked about for so long is given up. */
const PATIENCE_MS = 5000;

export class Search {
  readonly text: string;
  readonly needles: Buffer[];
  #found = new Uint8Array(1024);
  /** rows before this one were searched */
  #next = 0;
  #bytes = 0;
  #milliseconds = 0;
  #askedAt = 0;
  #isRunning = false;
  /** another one after every change of what was found */
  version = 0;

  constructor(text: string) {
    this.text = text;
    this.needles = needlesOf(text);
  }

  has(at: number): boolean {
    return this.#found[at] === 1;
  }

  stateFor(rows: readonly IndexedRow[]): SearchState {
    const { text } = this;
    return { text, searched: this.#next, total: rows.length, bytes: this.#bytes, milliseconds: this.#milliseconds };
  }

  /** Searches what was not searched yet; resolves when that is done, or after so many milliseconds with the rest under way. */
  async ask(rows: readonly IndexedRow[], milliseconds: number): Promise<void> {
    this.#askedAt = performance.now();
    if (this.#next >= rows.length) return;
    const done = this.#isRunning ? undefined : this.#run(rows);
    const end = performance.now() + milliseconds;
    while (this.#next < rows.length && performance.now() < end) await nextTick();
    void done?.catch(() => {});
  }

  async #run(rows: readonly IndexedRow[]): Promise<void> {
    this.#isRunning = true;
    const reader = new ChunkReader();
    try {
      let since = performance.now();
      while (this.#next < rows.length && performance.now() - this.#askedAt < PATIENCE_MS) {
        this.#searchChunk(rows, reader);
        const now = performance.now();
        this.#milliseconds += now - since;
        if (now - since > SLICE_MS) await nextTick();
        since = performance.now();
      }
    } finally {
      reader.close();
      this.#isRunning = false;
    }
  }

  /** As many rows as lie one after the other in a file and fit. */
  #searchChunk(rows: readonly IndexedRow[], reader: ChunkReader): void {
    const first = this.#next;
    const { file, offset: from } = (rows[first] as IndexedRow).place;
    const starts: number[] = [];
    const ends: number[] = [];
    for (let at = first; at < rows.length; at++) {
      const place = (rows[at] as IndexedRow).place;
      const end = place.offset + place.length - from;
      const isNext = place.file === file && place.offset >= from && (at === first || end <= CHUNK_BYTES);
      if (!isNext || place.offset - from > (ends.at(-1) ?? 0) + GAP) break;
      starts.push(place.offset - from);
      ends.push(end);
    }
    const bytes = reader.read(file, from, ends.at(-1) ?? 0);
    lower(bytes);
    if (rows.length > this.#found.length) this.#grow(rows.length);
    for (const needle of this.needles) {
      let row = 0;
      for (let at = bytes.indexOf(needle); at !== -1; ) {
        while ((ends[row] as number) <= at) row++;
        const end = ends[row] as number;
        const next = textPlace(bytes, at, needle.length, { start: starts[row] as number, end });
        if (next === at) this.#found[first + row] = 1;
        at = bytes.indexOf(needle, next === at ? end : next);
      }
    }
    this.#next = first + ends.length;
    this.#bytes += bytes.length;
    this.version++;
  }

  #grow(least: number): void {
    const larger = new Uint8Array(least * 2);
    larger.set(this.#found);
    this.#found = larger;
  }
}

/** Between two records that are rows: a newline, or lines that are not shown. */
const GAP = 1 << 16;
const BEFORE = 40;
const AFTER = 80;

/** The place in the dialogue where the text is first found, with some words around it. */
export function excerptOf({ place }: IndexedRow, { needles }: Search): string | undefined {
  const reader = new ChunkReader();
  try {
    const bytes = Buffer.from(reader.read(place.file, place.offset, place.length));
    const small = Buffer.from(bytes);
    lower(small);
    for (const needle of needles) {
      let at = small.indexOf(needle);
      for (let next = -1; at !== -1 && next !== at; ) {
        next = textPlace(small, at, needle.length, { start: 0, end: small.length });
        if (next !== at) at = small.indexOf(needle, next);
      }
      if (at !== -1) return plainText(bytes, at, at + needle.length);
    }
  } finally {
    reader.close();
  }
  return undefined;
}

/** Within one string: quotes end it. Escapes are read as what they mean. */
function plainText(bytes: Buffer, start: number, end: number): string {
  let [from, to] = [start, end];
  while (from > 0 && start - from < BEFORE && !isEnd(bytes, from - 1)) from--;
  while (to < bytes.length && to - end < AFTER && !isEnd(bytes, to)) to++;
  const text = bytes.toString("utf8", from, to).replace(/^\ufffd+|\ufffd+$/g, "");
  const plain = text
    .replace(/\\u([0-9a-fA-F]{4})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
    .replace(/\\(["\\/])/g, "$1")
    .replace(/\\[nrtbf]/g, " ");
  return `${isEnd(bytes, from - 1) ? "" : "…"}${plain}${isEnd(bytes, to) ? "" : "…"}`;
}

function isEnd(bytes: Buffer, at: number): boolean {
  return bytes[at] === QUOTE && bytes[at - 1] !== BACKSLASH;
}

function nextTick(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** One buffer for all chunks, and the last file stays open. */
class ChunkReader {
  #buffer = Buffer.allocUnsafe(CHUNK_BYTES);
  #file = "";
  #descriptor = -1;

  /** What is there: a file that shrank gives less, one that vanished nothing. */
  read(file: string, offset: number, length: number): Buffer {
    try {
      if (file !== this.#file) {
        this.close();
        this.#descriptor = openSync(file, "r");
        this.#file = file;
      }
      if (length > this.#buffer.length) this.#buffer = Buffer.allocUnsafe(length);
      return this.#buffer.subarray(0, readSync(this.#descriptor, this.#buffer, 0, length, offset));
    } catch {
      return this.#buffer.subarray(0, 0);
    }
  }

  close(): void {
    if (this.#descriptor !== -1) closeSync(this.#descriptor);
    this.#descriptor = -1;
    this.#file = "";
  }
}

/** In place, four bytes at once: 128 is set where a byte is a capital letter, and a quarter of it is the difference. */
function lower(bytes: Buffer): void {
  const words = new Int32Array(bytes.buffer, bytes.byteOffset, bytes.length >> 2);
  for (let at = 0; at < words.length; at++) {
    const word = words[at] as number;
    const low = word & 0x7f7f7f7f;
    const capitals = ~word & 0x80808080 & ((low + 0x3f3f3f3f) ^ (low + 0x25252525));
    words[at] = word | (capitals >>> 2);
  }
  for (let at = words.length * 4; at < bytes.length; at++) {
    const byte = bytes[at] as number;
    if (byte >= 65 && byte <= 90) bytes[at] = byte + 32;
  }
}

/** The text as it is inside a JSON string, in small letters; once as itself and once with every other character escaped. */
function needlesOf(text: string): Buffer[] {
  const own = JSON.stringify(text).slice(1, -1);
  const escaped = own.replace(/[^\x20-\x7e]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
  const needles = [...new Set([own, escaped])].map((needle) =>
    needle.replace(/[A-Z]/g, (letter) => letter.toLowerCase()),
  );
  return needles.map((needle) => Buffer.from(needle));
}

/** Names that records consist of, and values that are no text. */
const KEYS = new Set(
  "id query_id rollout dataset domains success messages role content reasoning_content tool_calls type function name arguments tool_call_id other_calls party after is_error summaries".split(
    " ",
  ),
);
const VALUES = new Set(["user", "assistant", "tool", "system", "function"]);
const LONGEST = 20;
const QUOTE = 34;
const BACKSLASH = 92;
const COLON = 58;

const MESSAGES = Buffer.from('"messages":[');
const METADATA = Buffer.from('"metadata":{');

/** Where it is, if it is in a text of the dialogue; else where to look on. A record's key is before, its metadata behind. */
function textPlace(bytes: Buffer, at: number, length: number, record: { start: number; end: number }): number {
  const from = bytes.indexOf(MESSAGES, record.start);
  if (from !== -1 && at < from && from < record.end) return from;
  const until = bytes.lastIndexOf(METADATA, record.end);
  if (until > Math.max(from, record.start) && at > until) return record.end;
  return isStructure(bytes, at, length) ? at + length : at;
}

/** Whether the match is part of a member's name, or of a role, and not of a text. Quotes in texts are escaped. */
function isStructure(bytes: Buffer, at: number, length: number): boolean {
  if (length > LONGEST) return false;
  let start = at;
  while (start > 0 && at - start <= LONGEST && bytes[start - 1] !== QUOTE) start--;
  if (bytes[start - 1] !== QUOTE || bytes[start - 2] === BACKSLASH) return false;
  let end = at + length;
  while (end < bytes.length && end - start <= LONGEST && bytes[end] !== QUOTE) end++;
  if (bytes[end] !== QUOTE) return false;
  const word = bytes.toString("latin1", start, end);
  if (bytes[end + 1] === COLON) return KEYS.has(word);
  return VALUES.has(word) && /"(role|type)": ?"$/.test(bytes.toString("latin1", Math.max(0, start - 10), start));
}
