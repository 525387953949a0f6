// A file of lines that another process writes: what is new since the last look. One that shrank, vanished or was put
// there anew is read from its start again.
import { closeSync, openSync, readSync, statSync } from "node:fs";
import { type Line, readLines } from "./lines.ts";

/** So many bytes at the start and at the end of what was read are remembered: if they are others, the file is another one. */
const MARK_BYTES = 64;

export class FollowedFile {
  readonly path: string;
  #end = 0;
  #lines = 0;
  #inode = 0;
  #changedAt = 0;
  #size = 0;
  #marks = "";

  constructor(path: string) {
    this.path = path;
  }

  /** Where what was read ends. */
  get end(): number {
    return this.#end;
  }

  /** How large the file was at the last look. */
  get size(): number {
    return this.#size;
  }

  /** Whether there is more than was read, or something else; call before `read`. */
  look(): "same" | "grown" | "replaced" {
    const stat = statSync(this.path, { throwIfNoEntry: false });
    if (stat && !stat.isFile()) throw new Error("it is not a plain file"); // a pipe would be waited for without end
    const [size, inode, changedAt] = [stat?.size ?? 0, stat?.ino ?? 0, stat?.mtimeMs ?? 0];
    const isTouched = changedAt !== this.#changedAt || inode !== this.#inode;
    const isNew = this.#end > 0 && inode !== this.#inode;
    const isOther = size < this.#end || isNew || (isTouched && this.#end > 0 && this.#readMarks() !== this.#marks);
    const isKnown = !isTouched && size === this.#size;
    this.#inode = inode;
    this.#changedAt = changedAt;
    this.#size = size;
    if (isOther) {
      this.#end = 0;
      this.#lines = 0;
      return "replaced";
    }
    return size > this.#end && !(isKnown && this.#isAtEnd) ? "grown" : "same";
  }

  /** All complete lines were read: what follows is torn, or still being written. */
  #isAtEnd = false;

  /** The complete lines that are new, until told to stop; a line counts as read once the next is asked for. */
  *read(isEnough: () => boolean = () => false): Generator<Line, void> {
    const before = this.#end;
    this.#isAtEnd = false;
    for (const line of readLines(this.path, this.#end)) {
      if (line.isOpen) break;
      const end = line.offset + line.length + 1;
      yield { ...line, number: ++this.#lines };
      this.#end = end;
      if (isEnough()) {
        this.#marks = this.#readMarks();
        return;
      }
    }
    this.#isAtEnd = true;
    if (this.#end !== before) this.#marks = this.#readMarks();
  }

  #readMarks(): string {
    const length = Math.min(MARK_BYTES, this.#end);
    const bytes = Buffer.alloc(2 * length);
    try {
      const descriptor = openSync(this.path, "r");
      try {
        readSync(descriptor, bytes, 0, length, 0);
        readSync(descriptor, bytes, length, length, this.#end - length);
      } finally {
        closeSync(descriptor);
      }
    } catch {
      return ""; // it is gone
    }
    return bytes.toString("latin1");
  }
}
