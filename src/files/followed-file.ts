// A file of lines that another process writes: what is new since the last look. One that shrank, vanished or was put
// there anew is read from its start again.
import { statSync } from "node:fs";
import { type Line, readLines } from "./lines.ts";

export class FollowedFile {
  readonly path: string;
  #end = 0;
  #lines = 0;
  #inode = 0;

  constructor(path: string) {
    this.path = path;
  }

  /** Where what was read ends. */
  get end(): number {
    return this.#end;
  }

  /** Whether there is more than was read, or less; call before `read`. */
  look(): "same" | "grown" | "replaced" {
    const stat = statSync(this.path, { throwIfNoEntry: false });
    const [size, inode] = [stat?.size ?? 0, stat?.ino ?? 0];
    const isOther = size < this.#end || (this.#inode !== 0 && inode !== this.#inode);
    this.#inode = inode;
    if (isOther) {
      this.#end = 0;
      this.#lines = 0;
      return "replaced";
    }
    return size > this.#end ? "grown" : "same";
  }

  /** The complete lines that are new; a line counts as read once the next is asked for. */
  *read(): Generator<Line, void> {
    for (const line of readLines(this.path, this.#end)) {
      if (line.isOpen) return; // torn, or still being written
      const end = line.offset + line.length + 1;
      yield { ...line, number: ++this.#lines };
      this.#end = end;
    }
  }
}
