// Paths and words as people can paste them into a shell.
import { relative } from "node:path";

/** A word quoted for a shell. */
export function quote(text: string): string {
  return /^[\w./:@%+=,-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** A path inside the working directory is shown relative to it. */
export function shortPath(path: string): string {
  const near = relative("", path);
  return near.startsWith("..") ? path : near;
}
