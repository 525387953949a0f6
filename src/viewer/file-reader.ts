// Reads the files of a run line by line, in slices, and follows them as they grow. Whatever is wrong with a line or a file
// is kept as a sentence, and the others are read.
import { messageOf, UsageError } from "../core/index.ts";
import { FollowedFile, type Line } from "../files/index.ts";
import { type DamagedLine, leftOut, MAX_NAMED } from "../runs/index.ts";
import { describeFull, MemoryGauge, SHARES } from "./memory.ts";

export type FilePart = {
  file: FollowedFile;
  /** of the memory, that may be in use while it is read */
  share: number;
  damaged: DamagedLine[];
  /** what is wrong with the line, if so */
  take(line: Line): string | undefined;
  forget(): void;
};

const ANOTHER: DamagedLine = { offset: 0, length: 0, number: 0, reason: "" };

export class FileReader {
  readonly #onChange: () => void;
  readonly #parts = new Map<string, FilePart>();
  /** what is said about files that are not read to their end */
  readonly #full = new Map<string, string>();
  readonly #memory = new MemoryGauge();
  /** why a file cannot be read, by its path */
  readonly #unreadable = new Map<string, string>();

  constructor(onChange: () => void) {
    this.#onChange = onChange;
  }

  /** The same one for the same path. */
  part(path: string, how: Pick<FilePart, "take" | "forget"> & { share?: number }): FilePart {
    const part = this.#parts.get(path) ?? { file: new FollowedFile(path), damaged: [], share: SHARES.rest, ...how };
    this.#parts.set(path, part);
    return part;
  }

  forget(path: string): void {
    this.#parts.get(path)?.forget();
    this.#parts.delete(path);
    this.#unreadable.delete(path);
    this.#full.delete(path);
  }

  /** What is damaged or cannot be read, one sentence for each file. */
  get notes(): string[] {
    const damaged = [...this.#parts.values()].filter((part) => part.damaged.length > 0);
    const unreadable = [...this.#unreadable].map(([path, reason]) => `${path}: cannot be read (${reason})`);
    return [...this.#full.values(), ...unreadable, ...damaged.map((part) => leftOut(part.file.path, part.damaged))];
  }

  /** How much of the files has been read, from 0 to 1. */
  get progress(): number {
    const files = [...this.#parts.values()].map(({ file }) => file);
    const size = files.reduce((sum, file) => sum + file.size, 0);
    return size === 0 ? 1 : files.reduce((sum, file) => sum + file.end, 0) / size;
  }

  isFull(path: string): boolean {
    return this.#full.has(path);
  }

  /** The rest of a file is not read if it would take more memory than its share. */
  stopIfFull(path: string, share: number, shown: string): boolean {
    if (!this.#memory.isFull(share)) return false;
    this.#full.set(path, describeFull(path, shown));
    this.#onChange();
    return true;
  }

  /** A file that cannot be read is named, and looked at again the next time: the others are read. */
  async try(path: string, read: () => Promise<boolean>): Promise<boolean> {
    let reason: string | undefined;
    const isDone = await read().catch((error) => {
      reason = messageOf(error);
      return true;
    });
    if (reason !== this.#unreadable.get(path)) this.#onChange();
    if (reason === undefined) this.#unreadable.delete(path);
    else this.#unreadable.set(path, reason);
    return isDone;
  }

  /** What is new in it, for as long as the turn lasts; false if there is more. */
  async read(part: FilePart, turn: Turn): Promise<boolean> {
    if (this.#full.has(part.file.path)) return true;
    return this.try(part.file.path, () => this.#readLines(part, turn));
  }

  async #readLines(part: FilePart, turn: Turn): Promise<boolean> {
    const seen = part.file.look();
    if (seen === "replaced") {
      part.damaged.length = 0;
      part.forget();
      this.#onChange();
    }
    if (seen === "same") return true;
    for (const line of part.file.read(() => turn.isOver)) {
      const { offset, length, number } = line;
      if (this.stopIfFull(part.file.path, part.share, `its first ${number} lines`)) return true;
      const reason = takeLine(part, line);
      const isNamed = part.damaged.length < MAX_NAMED; // of the others it is enough to know that they are there
      if (reason !== undefined) part.damaged.push(isNamed ? { offset, length, number, reason } : ANOTHER);
      this.#onChange();
      if (turn.isSliceOver) await turn.pause();
    }
    return !turn.isOver;
  }
}

/** Whatever a line holds, the lines behind it are read; what a newer version wrote is left alone. */
function takeLine(part: FilePart, line: Line): string | undefined {
  try {
    return part.take(line);
  } catch (error) {
    if (error instanceof UsageError) throw error;
    return `cannot be read (${messageOf(error)})`;
  }
}

/** How long reading may keep the process from everything else. */
const SLICE_MS = 12;

/** How long one reads at a time, and how long in all. */
export class Turn {
  readonly #end: number;
  #since = performance.now();

  constructor(milliseconds: number) {
    this.#end = this.#since + milliseconds;
  }

  get isOver(): boolean {
    return performance.now() > this.#end;
  }

  get isSliceOver(): boolean {
    return performance.now() - this.#since > SLICE_MS;
  }

  async pause(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    this.#since = performance.now();
  }
}
