// The runs that the page shows: those found in the given folders, each with its index, looked at again and again. What
// changed is told to whoever listens. Nothing here writes.
import { accessSync, constants, existsSync, readdirSync, realpathSync, statSync } from "node:fs";
import { basename, isAbsolute, join, relative, resolve, sep } from "node:path";
import { loadChangedAt } from "../runner/index.ts";
import { writerOf } from "../runs/index.ts";
import { isRun, RunIndex } from "./run-index.ts";

/** A run by the name that its address has. */
export type NamedRun = { name: string; index: RunIndex };

const EVERY_MS = 500;
/** Looking may take a twentieth of the time; it is never further apart than this. */
const SHARE = 20;
const MAX_EVERY_MS = 5000;
/** How long one run is read before the others have their turn. */
const TURN_MS = 200;
/** Runs lie in the folder itself, in its folders, or one level below. */
const DEPTH = 2;

export class Runs {
  readonly #roots: string[];
  readonly #runs = new Map<string, NamedRun>();
  readonly #versions = new Map<RunIndex, string>();
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

  /** Calls back with the names of runs that changed, came or went. */
  listen(listener: (names: string[]) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Resolves when the runs are known; they are read, and looked at again, by themselves. */
  async open(): Promise<void> {
    this.#find();
    void this.#follow();
  }

  /** One more folder to look in. */
  add(root: string): void {
    const path = resolve(root);
    if (!this.#roots.includes(path)) this.#roots.push(path);
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
  }

  async #follow(): Promise<void> {
    let isMore = false;
    let milliseconds = 0;
    const changed = this.#find();
    for (const { name, index } of [...this.#runs.values()]) {
      if (this.#isClosed) return;
      const began = performance.now();
      const isDone = await index.update(TURN_MS).catch(() => true); // gone or half written: the next look will tell
      isMore ||= !isDone;
      milliseconds += performance.now() - began;
      const version = `${index.version} ${sessionOf(index.path)}`;
      if (this.#versions.get(index) !== version) changed.push(name);
      this.#versions.set(index, version);
    }
    if (this.#isClosed) return;
    if (changed.length > 0) for (const listener of this.#listeners) listener(changed);
    const wait = isMore ? 0 : Math.min(Math.max(EVERY_MS, milliseconds * SHARE), MAX_EVERY_MS);
    this.#timer = setTimeout(() => void this.#follow(), wait);
  }

  /** The names of runs that came or went. */
  #find(): string[] {
    const changed: string[] = [];
    for (const { name, index } of this.all) {
      if (existsSync(index.path) && (index.manifest || isShown(index.path))) continue;
      this.#runs.delete(name);
      changed.push(name);
    }
    const known = new Set(this.all.map(({ index }) => index.path));
    const allowed = this.#roots.flatMap((root) => realPath(root) ?? []);
    for (const root of this.#roots) {
      for (const folder of findRuns(root, DEPTH)) {
        if (known.has(folder) || !isWithin(folder, allowed)) continue;
        known.add(folder);
        const name = this.#nameFor(folder, root);
        this.#runs.set(name, { name, index: new RunIndex(folder) });
        changed.push(name);
      }
    }
    return changed;
  }

  #nameFor(folder: string, root: string): string {
    const short = relative(root, folder).replaceAll(sep, "/") || basename(folder);
    if (!this.#runs.has(short)) return short;
    for (let number = 2; ; number++) if (!this.#runs.has(`${short}~${number}`)) return `${short}~${number}`;
  }
}

/** A link may lead out of the folders that were given: what it leads to was not. */
function isWithin(folder: string, roots: readonly string[]): boolean {
  const path = realPath(folder);
  if (path === undefined) return false;
  return roots.some((root) => {
    const way = relative(root, path);
    return way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way);
  });
}

/** A session that begins or ends may change nothing but its lock, and one that waits nothing but its load. */
function sessionOf(run: string): string {
  try {
    return `${writerOf(run)?.pid} ${loadChangedAt(run)}`;
  } catch {
    return ""; // vanished meanwhile, or not ours to read
  }
}

function realPath(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined; // vanished, or not ours to read
  }
}

function findRuns(folder: string, depth: number): string[] {
  if (isShown(folder)) return [folder];
  if (depth === 0) return [];
  let names: string[];
  try {
    names = readdirSync(folder).filter((name) => !name.startsWith(".") && name !== "node_modules");
  } catch {
    return []; // vanished
  }
  return names
    .map((name) => join(folder, name))
    .filter(isFolder)
    .flatMap((path) => findRuns(path, depth - 1));
}

/** One that may not be looked into is shown, too: somebody wonders where its run is. */
function isShown(folder: string): boolean {
  return isRun(folder) || isShut(folder);
}

function isShut(folder: string): boolean {
  try {
    accessSync(folder, constants.R_OK | constants.X_OK);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EACCES";
  }
}

/** A link may lead nowhere, or to itself. */
function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}
