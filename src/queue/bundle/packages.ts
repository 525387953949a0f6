// Packages that a user's code imports, from the `node_modules` in which Node would find them: each with what it depends on.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { isObject, parseJson } from "../../core/index.ts";
import { type FileSet, realPath } from "./file-set.ts";

const MODULES = "node_modules";
/** What nobody runs. */
const NEEDLESS = /\.(?:map|md|markdown|d\.[cm]?ts|tsbuildinfo)$/;

/** The folder of a package as code in `folder` finds it. */
export function findPackage(name: string, folder: string): string | undefined {
  for (let at = folder; ; at = dirname(at)) {
    const found = join(at, MODULES, name);
    if (existsSync(join(found, "package.json"))) return found;
    if (at === dirname(at)) return undefined;
  }
}

/** `seen`: those that are there already. */
export function addPackage(folder: string, files: FileSet, seen: Set<string>, source = realPath(folder)): void {
  if (seen.has(folder)) return;
  seen.add(folder);
  addFiles(folder, source, files);
  const manifest = parseJson(readFileSync(join(source, "package.json"), "utf8"));
  for (const name of listDependencies(manifest)) {
    const found = findPackage(name, folder);
    // package managers that link keep a package's own dependencies next to the real one
    const real = found === undefined ? findPackage(name, source) : undefined;
    if (found !== undefined) addPackage(found, files, seen);
    else if (real !== undefined) addPackage(besides(folder, name), files, seen, realPath(real));
  }
}

function addFiles(folder: string, source: string, files: FileSet): void {
  for (const entry of readdirSync(source, { withFileTypes: true })) {
    const [used, path] = [join(folder, entry.name), join(source, entry.name)];
    if (entry.isDirectory() && entry.name !== MODULES) addFiles(used, path, files);
    else if (entry.isFile() && !NEEDLESS.test(entry.name)) files.addAs(used, path);
  }
}

function listDependencies(manifest: unknown): string[] {
  if (!isObject(manifest)) return [];
  const { dependencies, peerDependencies, optionalDependencies } = manifest;
  return [dependencies, peerDependencies, optionalDependencies].flatMap((list) =>
    isObject(list) ? Object.keys(list) : [],
  );
}

function besides(folder: string, name: string): string {
  const end = folder.lastIndexOf(MODULES) + MODULES.length;
  return join(folder.slice(0, end), name);
}
