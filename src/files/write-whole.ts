// Replaces a small file as a whole: a reader, even after a power loss, finds either the old text or the new one.
import { closeSync, fsyncSync, openSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { redactWritten } from "../core/index.ts";

export function writeWhole(path: string, text: string): void {
  const descriptor = openSync(`${path}.new`, "w");
  try {
    writeFileSync(descriptor, redactWritten(text));
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
  renameSync(`${path}.new`, path);
  syncFolder(dirname(path));
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
