// A worker's files by content hash. A file appears under its name only when it is whole; whoever uses one has checked it
// first, so that damage is repaired and several workers of one machine may use the same folder at once.
import { createHash, randomBytes } from "node:crypto";
import { constants, type Stats } from "node:fs";
import { chmod, copyFile, link, lstat, mkdir, open, readdir, rename, rm, unlink } from "node:fs/promises";
import { dirname, join, sep } from "node:path";
import { messageOf, UsageError } from "../../core/index.ts";
import type { BundleFile } from "./bundle.ts";
import { BadBundleError } from "./check-bundle.ts";
import { hashFile } from "./hash-files.ts";

/** The bytes of a file, in pieces of any size. */
export type FetchFile = (hash: string) => AsyncIterable<Uint8Array>;

const AT_ONCE = 8;

export class FileCache {
  readonly #folder: string;
  readonly #fetch: FetchFile;

  constructor(folder: string, fetch: FetchFile) {
    this.#folder = folder;
    this.#fetch = fetch;
  }

  /** Brings these files below `target`, as their paths say; what is there and whole stays. */
  async lay(files: readonly BundleFile[], target: string): Promise<void> {
    await atMachine(this.#folder, () => mkdir(this.#folder, { recursive: true, mode: 0o700 }));
    await makeFolders(target, new Set(files.map(({ path }) => dirname(path))));
    const byContent = new Map<string, BundleFile[]>();
    for (const file of files) byContent.set(this.#pathOf(file), [...(byContent.get(this.#pathOf(file)) ?? []), file]);
    const waiting = [...byContent];
    const work = async () => {
      for (let next = waiting.pop(); next; next = waiting.pop()) {
        const [stored, same] = next;
        const [first] = same as [BundleFile];
        await atMachine(this.#folder, () => this.#bring(stored, first));
        for (const { path } of same) await atMachine(this.#folder, () => place(stored, join(target, path), first.hash));
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
  }

  /** A file that programs may start is another one: links share their rights. */
  #pathOf({ hash, mode }: BundleFile): string {
    return join(this.#folder, "files", hash.slice(0, 2), mode & 0o111 ? `${hash}.x` : hash);
  }

  async #bring(stored: string, { hash, mode }: BundleFile): Promise<void> {
    if (await isWhole(stored, hash)) return;
    await mkdir(dirname(stored), { recursive: true });
    await removeDrafts(dirname(stored));
    const draft = `${stored}.${randomBytes(6).toString("hex")}.new`;
    try {
      await this.#download(hash, draft);
      await chmod(draft, mode & 0o111 ? 0o555 : 0o444);
      await rename(draft, stored);
    } finally {
      await rm(draft, { force: true });
    }
  }

  async #download(hash: string, draft: string): Promise<void> {
    const read = createHash("sha256");
    const handle = await open(draft, "wx", 0o600);
    try {
      for await (const piece of this.#fetch(hash)) {
        read.update(piece);
        await handle.writeFile(piece);
      }
    } finally {
      await handle.close();
    }
    if (read.digest("hex") !== hash)
      throw new BadBundleError(`the file ${hash} came with other bytes than its hash says`);
  }
}

const DAY = 24 * 60 * 60 * 1000;

/** What killed workers left behind: nobody fetches one file for a day. */
async function removeDrafts(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    if (name.endsWith(".new") && Date.now() - ((await lstatIfThere(path))?.mtimeMs ?? 0) > DAY)
      await rm(path, { force: true });
  }
}

/** A link to the stored file, else a copy. */
async function place(stored: string, path: string, hash: string): Promise<void> {
  const there = await lstatIfThere(path);
  const source = await lstat(stored);
  if (there?.isFile() && (there.ino === source.ino || (await isWhole(path, hash)))) return;
  const draft = `${path}.${randomBytes(6).toString("hex")}.new`;
  try {
    await link(stored, draft).catch(() => copyFile(stored, draft, constants.COPYFILE_EXCL));
    if (there?.isDirectory()) await rm(path, { recursive: true });
    await rename(draft, path);
  } finally {
    // of two names of one file `rename` does nothing, and leaves both
    await unlink(draft).catch(() => {});
  }
}

/** Real folders, all of them: a link that somebody put there would lead elsewhere. */
async function makeFolders(target: string, folders: ReadonlySet<string>): Promise<void> {
  const all = new Set([...folders].flatMap((folder) => listSteps(folder)));
  await atMachine(target, () => mkdir(target, { recursive: true, mode: 0o700 }));
  for (const folder of [...all].sort((a, b) => a.length - b.length)) {
    const path = join(target, folder);
    const there = await lstatIfThere(path);
    if (there && !there.isDirectory()) await atMachine(path, () => unlink(path));
    await atMachine(path, () => mkdir(path, { recursive: true }));
  }
}

/** `a/b/c` → `a`, `a/b`, `a/b/c` */
function listSteps(folder: string): string[] {
  const parts = folder.split("/");
  return parts.map((_, index) => parts.slice(0, index + 1).join(sep));
}

async function isWhole(path: string, hash: string): Promise<boolean> {
  if (!(await lstatIfThere(path))?.isFile()) return false;
  return (await hashFile(path).catch(() => "")) === hash;
}

async function lstatIfThere(path: string): Promise<Stats | undefined> {
  return lstat(path).catch(() => undefined);
}

const OF_THE_MACHINE = new Set(["ENOSPC", "EACCES", "EPERM", "EROFS", "EDQUOT", "ENOTDIR", "EEXIST"]);

/** What is wrong with the cache's folder is for its owner to mend. */
async function atMachine<T>(folder: string, action: () => Promise<T>): Promise<T> {
  try {
    return await action();
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    if (!OF_THE_MACHINE.has(code)) throw error;
    throw new UsageError(
      `The cache folder ${folder} cannot be written (${messageOf(error)}): give --cache another one`,
    );
  }
}
