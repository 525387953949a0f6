// Replaces a file as a whole: a reader, even after a power loss, finds either the old text or the new one.
import { closeSync, fsyncSync, openSync, renameSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { redactWritten } from "../core/index.ts";

export function writeWhole(path: string, text: string): void {
  rewriteFile(path, [Buffer.from(redactWritten(text))]);
}

/** The same with a file of any size: the parts may come from the file itself. */
export function rewriteFile(path: string, parts: Iterable<Buffer>): void {
  const descriptor = openSync(`${path}.new`, "w");
  try {
    for (const bytes of parts) writeAll(descriptor, bytes);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
  renameSync(`${path}.new`, path);
  syncFolder(dirname(path));
}

export function writeAll(descriptor: number, bytes: Buffer): void {
  for (let done = 0; done < bytes.length; ) done += writeSync(descriptor, bytes, done);
}

/** A new name is on disk only when its folder is; if folders cannot be synced, it is up to the file system. */
export function syncFolder(path: string): void {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(path, "r");
    fsyncSync(descriptor);
  } catch {
    // Windows, some network file systems
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}
