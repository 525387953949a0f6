// The runs that the page shows: those found in the given folders, each with its index, looked at again and again. What
// changed is told to whoever listens. Nothing here writes.
import { readdirSync, statSync } from "node:fs";
import { basename, join, relative, resolve } from "node:path";
import { isRun, RunIndex } from "./run-index.ts";

/** A run by the name that its address has. */
export type NamedRun = { name: string; index: RunIndex };

const EVERY_MS = 500;
/** Runs lie in the folder itself, in its folders, or one level below. */
const DEPTH = 2;

export class Runs {
  readonly #roots: string[];
  readonly #runs = new Map<string, NamedRun>();
  readonly #versions = new Map<RunIndex, number>();
  readonly #listeners = new Set<(names: string[]) => void>();
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(roots: readonly string[]) {
    this.#roots = roots.map((root) => resolve(root));
  }

  get all(): NamedRun[] {
    return [...this.#runs.values()];
  }

  get(name: string): NamedRun | undefined {
    return this.#runs.get(name);
  }

  /** Calls back with the names of runs that changed. */
  listen(listener: (names: string[]) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Resolves when the first look is over; later looks follow by themselves. */
  async open(): Promise<void> {
    this.#find();
    void this.#follow();
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
  }

  async #follow(): Promise<void> {
    if (this.#isClosed) return;
    this.#find();
    const changed: string[] = [];
    for (const { name, index } of this.#runs.values()) {
      await index.update().catch(() => {}); // gone or half written: the next look will tell
      if (this.#versions.get(index) !== index.version) changed.push(name);
      this.#versions.set(index, index.version);
    }
    if (changed.length > 0) for (const listener of this.#listeners) listener(changed);
    if (!this.#isClosed) this.#timer = setTimeout(() => void this.#follow(), EVERY_MS);
  }

  #find(): void {
    for (const root of this.#roots) {
      for (const folder of findRuns(root, DEPTH)) {
        if (this.all.some(({ index }) => index.path === folder)) continue;
        const name = this.#nameFor(folder, root);
        this.#runs.set(name, { name, index: new RunIndex(folder) });
      }
    }
  }

  #nameFor(folder: string, root: string): string {
    const short = relative(root, folder).replaceAll("\\", "/") || basename(folder);
    if (!this.#runs.has(short)) return short;
    for (let number = 2; ; number++) if (!this.#runs.has(`${short}~${number}`)) return `${short}~${number}`;
  }
}

function findRuns(folder: string, depth: number): string[] {
  if (isRun(folder)) return [folder];
  if (depth === 0) return [];
  let names: string[];
  try {
    names = readdirSync(folder).filter((name) => !name.startsWith(".") && name !== "node_modules");
  } catch {
    return []; // vanished, or not ours to read
  }
  return names
    .map((name) => join(folder, name))
    .filter((path) => statSync(path, { throwIfNoEntry: false })?.isDirectory())
    .flatMap((path) => findRuns(path, depth - 1));
}
