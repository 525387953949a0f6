// Paths and words as people can paste them into a shell.
import { relative } from "node:path";

/** A word as a shell takes it. */
export function quote(text: string): string {
  return /^[\w./:@%+=,-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** A path from the working directory, where that is shorter. */
export function shortPath(path: string): string {
  const near = relative("", path);
  return near.startsWith("..") ? path : near;
}
