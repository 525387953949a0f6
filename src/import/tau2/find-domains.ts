// Where a checkout of tau2-bench has its domains: data and tasks in one tree, the code of the tools in another.
import { existsSync, readdirSync } from "node:fs";
import { basename, dirname, join, relative, sep } from "node:path";

export type FoundDomain = {
  name: string;
  /** its folder of data */
  folder: string;
  /** what the benchmark's `TAU2_DATA_DIR` has to be */
  dataRoot: string;
  /** the module that makes its environment; none if the code is not there */
  code: { root: string; module: string } | undefined;
};

const MAX_DEPTH = 6;
const SKIPPED = /^(?:\.|node_modules$|__pycache__$|results$|simulations$|web$|site-packages$)/;

export function findDomains(folder: string): FoundDomain[] {
  const places = [...domainFolders(folder, 0)];
  const code = new Map(
    places.filter((path) => existsSync(join(path, "environment.py"))).map((path) => [basename(path), path]),
  );
  return places
    .filter((path) => existsSync(join(path, "tasks.json")) || existsSync(join(path, "tasks")))
    .filter((path) => taskFiles(path).length > 0)
    .map((path) => {
      const name = basename(path);
      const own = code.get(name);
      return {
        name,
        folder: path,
        dataRoot: dirname(dirname(dirname(path))),
        code: own === undefined ? undefined : moduleOf(own),
      };
    })
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** `tasks.json`, or else every file of `tasks/`. */
export function taskFiles(folder: string): string[] {
  const whole = join(folder, "tasks.json");
  if (existsSync(whole)) return [whole];
  const parts = join(folder, "tasks");
  return readdirSync(parts)
    .filter((name) => name.endsWith(".json"))
    .sort()
    .map((name) => join(parts, name));
}

function* domainFolders(folder: string, depth: number): Generator<string> {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (!entry.isDirectory() || SKIPPED.test(entry.name)) continue;
    const path = join(folder, entry.name);
    if (basename(folder) === "domains") yield path;
    else if (depth < MAX_DEPTH) yield* domainFolders(path, depth + 1);
  }
}

/** The outermost package that the folder is in, and the module's name from there. */
function moduleOf(folder: string): { root: string; module: string } {
  let root = dirname(dirname(dirname(folder)));
  while (existsSync(join(root, "__init__.py"))) root = dirname(root);
  return { root, module: [...relative(root, folder).split(sep), "environment"].join(".") };
}
