// A run folder that gets its name only once all of it is on disk: whoever is killed before leaves no half of a run.
import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { messageOf, UsageError } from "../core/index.ts";
import { Lock, syncFolder } from "../files/index.ts";

/** `sources` are run folders that nobody may write to meanwhile. A draft that a killed process left is thrown away. */
export function writeFolder<T>(target: string, sources: readonly string[], write: (draft: string) => T): T {
  const draft = `${target}.merging`;
  const locks: Lock[] = [];
  let isOurs = false;
  try {
    mkdirSync(dirname(target), { recursive: true });
    locks.push(Lock.take(`${draft}.lock`, target));
    if (existsSync(target)) throw new UsageError(`${target} is there already: choose a new folder`);
    isOurs = true;
    for (const source of sources) locks.push(...lockSource(source));
    rmSync(draft, { recursive: true, force: true });
    mkdirSync(draft);
    const result = write(draft);
    syncFolder(draft);
    renameSync(draft, target);
    syncFolder(dirname(target));
    return result;
  } catch (error) {
    if (isOurs) rmSync(draft, { recursive: true, force: true });
    if (typeof (error as NodeJS.ErrnoException).code !== "string") throw error;
    throw new UsageError(`Cannot write ${target}: ${messageOf(error)}`);
  } finally {
    for (const lock of locks) lock.release();
  }
}

/** Of a folder that cannot be written, such as a mounted one, it is enough that nobody was writing to it. */
function lockSource(path: string): Lock[] {
  try {
    return [Lock.take(join(path, "lock"), path)];
  } catch (error) {
    if (["EROFS", "EACCES", "EPERM"].includes((error as NodeJS.ErrnoException).code ?? "")) return [];
    throw error;
  }
}
