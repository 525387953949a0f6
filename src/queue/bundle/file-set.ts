// The files that a run needs, by the paths under which it uses them. Links lead only to what the run uses: whoever may
// write into a dataset's folder must not be able to send other files of this machine.
import { existsSync, lstatSync, readdirSync, realpathSync, type Stats, statSync } from "node:fs";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import { UsageError } from "../../core/index.ts";

/** Nothing of these is needed elsewhere; packages that code imports are added one by one. */
const JUNK = new Set(["node_modules", "__pycache__", "venv", "site-packages", "outputs"]);
const JUNK_FILE = /\.(?:pyc|pyo|log|sock|pid)$/;

/** `isSwept`: it was not asked for, but came along with a folder or was named by code. */
export type FoundFile = { source: string; isSwept: boolean };

export class FileSet {
  readonly #files = new Map<string, FoundFile>();
  /** real paths of the folders and files that the run names */
  readonly #roots = new Set<string>();
  /** real paths that are never swept up: outputs, and files of settings, which may hold keys */
  readonly #never: ReadonlySet<string>;
  readonly #swept = new Set<string>();

  constructor(never: readonly string[]) {
    this.#never = new Set(never.map(realPath));
  }

  /** The files by their absolute paths; `source` is where the bytes are. */
  get files(): ReadonlyMap<string, FoundFile> {
    return this.#files;
  }

  has(path: string): boolean {
    return this.#files.has(resolve(path));
  }

  /** A folder or file that the run uses: links may lead into it. */
  allow(path: string): void {
    this.#roots.add(realPath(path));
  }

  /** A file that the settings name; a link is meant as it is. */
  addNamed(path: string): void {
    this.allow(path);
    this.add(path);
  }

  /** A file without which a worker cannot go on. */
  add(path: string): void {
    if (!tryStat(path)?.isFile()) throw new UsageError(`There is no file ${path}, which workers need`);
    const source = realPath(path);
    if (!this.#isInside(source) && isLink(path))
      throw new UsageError(
        `${path} is a link that leads out of what the run uses (to ${source}), so it is not sent to workers: put the file itself there`,
      );
    this.#keep(path, { source, isSwept: false });
  }

  /** The bytes of one file under the path of another. */
  addAs(path: string, source: string): void {
    this.#keep(path, { source, isSwept: false });
  }

  /** Whatever is useful in a folder, as far as it is known; returns the files. */
  sweep(folder: string): string[] {
    const found: string[] = [];
    const real = realPath(folder);
    if (this.#swept.has(resolve(folder)) || !this.#isInside(real)) return found;
    this.#swept.add(resolve(folder));
    for (const name of tryList(folder)) {
      const path = join(folder, name);
      const stats = tryStat(path);
      const source = stats && realPath(path);
      if (!source || !this.#isWanted(path, source)) continue;
      // a link to a folder above itself has no end
      if (stats.isDirectory() && !isWithin(real, source)) found.push(...this.sweep(path));
      if (!stats.isFile()) continue;
      this.#keep(path, { source, isSwept: true });
      found.push(path);
    }
    return found;
  }

  /** A file or folder that code names, unless it is a link that leads elsewhere; returns the files. */
  take(path: string): string[] {
    if (!lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() && !isJunk(path)) this.allow(path);
    const stats = tryStat(path);
    const source = stats && realPath(path);
    if (!source || !this.#isWanted(path, source)) return [];
    if (stats.isDirectory()) return this.sweep(path);
    if (!stats.isFile() || this.has(path)) return [];
    this.#keep(path, { source, isSwept: true });
    return [path];
  }

  #keep(path: string, file: FoundFile): void {
    if (!this.has(path)) this.#files.set(resolve(path), file);
  }

  #isWanted(path: string, source: string): boolean {
    if (isJunk(path) || this.#never.has(source)) return false;
    return this.#isInside(source) && !isRunFolder(path) && !isVirtualEnvironment(path);
  }

  #isInside(source: string): boolean {
    for (const root of this.#roots) if (isWithin(source, root)) return true;
    return false;
  }
}

function isJunk(path: string): boolean {
  const name = basename(path);
  if (name.startsWith(".") || JUNK_FILE.test(name)) return true;
  return JUNK.has(name) && basename(dirname(resolve(path))) !== "database";
}

export function isWithin(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way === "" || !(way === ".." || way.startsWith(`..${sep}`) || resolve(way) === way);
}

/** Undefined also for a link that leads nowhere, or in circles. */
function tryStat(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch {
    return undefined;
  }
}

/** What may not be read here was of no use here. */
function tryList(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

const PARTS = /\/(?:queries|policies|tool_lists|mcp_servers|database)(?:\/.*)?$/;

/**
 * The path without links on the way to it, as Node sees the code that it loads. Inside a dataset folder it stays as it is:
 * there, files find each other by the folder's own names.
 */
export function settlePath(path: string): string {
  const absolute = resolve(path);
  const inner = PARTS.exec(absolute)?.[0] ?? `/${basename(absolute)}`;
  return join(realPath(absolute.slice(0, -inner.length) || "/"), inner);
}

/** A path that is not there yet is what it says. */
export function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return resolve(path);
  }
}

/** It, or a folder on the way to it. */
function isLink(path: string): boolean {
  return realPath(path) !== resolve(path);
}

function isRunFolder(path: string): boolean {
  return (
    existsSync(join(path, "manifest.json")) &&
    (existsSync(join(path, "journal.jsonl")) || existsSync(join(path, "trajectories")))
  );
}

function isVirtualEnvironment(path: string): boolean {
  return existsSync(join(path, "pyvenv.cfg"));
}
