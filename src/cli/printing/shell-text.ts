// Paths and words as people can paste them into a shell.
import { relative } from "node:path";

export { quote } from "../../core/index.ts";

/** A path inside the working directory is shown relative to it. */
export function shortPath(path: string): string {
  const near = relative("", path);
  return near.startsWith("..") ? path : near;
}
