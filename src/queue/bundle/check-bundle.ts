// What comes out of a database is not trusted: no path of a bundle may lead out of the folder that it is unpacked into.
import { sep } from "node:path";
import { isObject } from "../../core/index.ts";
import { BUNDLED, type BundleFile, RUN, type RunBundle } from "./bundle.ts";

/** Not the user's mistake: somebody, or a bug, has written something else into the database. */
export class BadBundleError extends Error {
  override name = "BadBundleError";
}

const HASH = /^[0-9a-f]{64}$/;

export function requireBundle(bundle: RunBundle): void {
  const { files, needs } = bundle as { files: unknown; needs: unknown };
  if (!Array.isArray(files) || !Array.isArray(needs) || !needs.every((name) => typeof name === "string"))
    throw new BadBundleError("the run's bundle has no list of files or of variables");
  const paths = new Set<string>();
  for (const file of files) {
    if (!isObject(file) || typeof file.hash !== "string" || !HASH.test(file.hash))
      throw new BadBundleError("the run's bundle names a file without a hash");
    requirePath(file.path);
    if (paths.has(file.path)) throw new BadBundleError(`the run's bundle has ${JSON.stringify(file.path)} twice`);
    paths.add(file.path);
  }
  for (const path of paths)
    for (let at = path.lastIndexOf("/"); at !== -1; at = path.lastIndexOf("/", at - 1))
      if (paths.has(path.slice(0, at)))
        throw new BadBundleError(`the run's bundle has ${JSON.stringify(path.slice(0, at))} as a file and as a folder`);
}

/** Relative, below one of the two folders, without a way up; no separator of another system's. */
export function requirePath(path: unknown): asserts path is string {
  const parts = typeof path === "string" ? path.split("/") : [];
  const isFine =
    parts.length > 0 &&
    [RUN, BUNDLED].includes(parts[0] as string) &&
    parts.every((part) => part !== "" && part !== "." && part !== ".." && !part.includes("\0")) &&
    (sep === "/" || !String(path).includes(sep));
  if (!isFine) throw new BadBundleError(`the run's bundle has a path that leads elsewhere: ${JSON.stringify(path)}`);
}

/** The files, and the folders that they are in. */
export function listPaths(files: readonly BundleFile[]): Set<string> {
  const paths = new Set<string>();
  for (let { path } of files)
    for (; path !== "" && !paths.has(path); path = path.slice(0, Math.max(path.lastIndexOf("/"), 0))) paths.add(path);
  return paths;
}
