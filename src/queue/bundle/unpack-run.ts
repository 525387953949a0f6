// From what was sent of a run to a run on this machine: variables are there, files lie in the cache, paths lead to them.
import { createHash, randomBytes } from "node:crypto";
import { existsSync, mkdirSync } from "node:fs";
import { mkdir, rename, rm, symlink, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import type { ResolvedRun } from "../../config/index.ts";
import { isObject, UsageError, type Variables } from "../../core/index.ts";
import { BUNDLED_PATH } from "../../domains/index.ts";
import { BUNDLED, type BundleFile, NODE, type RunBundle } from "./bundle.ts";
import { BadBundleError, listPaths, requireBundle, requirePath } from "./check-bundle.ts";
import { PROGRAM_PACKAGE } from "./code-files.ts";
import { type FetchFile, FileCache } from "./file-cache.ts";
import { isWithin } from "./file-set.ts";
import { hashFile } from "./hash-files.ts";
import { replacePaths } from "./run-paths.ts";
import { PROGRAM_FOLDER } from "./server-files.ts";
import { listMissing } from "./variables.ts";

export type UnpackOptions = {
  /** a folder for files by their hashes, which other workers of this machine may use at the same time */
  cache: string;
  /** this worker's own variables */
  env: Variables;
  fetchFile: FetchFile;
};

/** This machine lacks something that the run names: it can take no work of that run, and others may. */
export class LackingError extends UsageError {}

/** Throws a LackingError before anything is fetched, and a BadBundleError for a bundle that nobody packed. */
export async function unpackRun(bundle: RunBundle, { cache, env, fetchFile }: UnpackOptions): Promise<ResolvedRun> {
  requireBundle(bundle);
  requireVariables(bundle, env);
  const spec = bundle.spec as unknown as SentRun;
  if (!isObject(spec) || !Array.isArray(spec.datasets)) throw new BadBundleError("the run's bundle has no settings");
  requirePython(bundle.name, spec.python);
  const hasBundled = await haveBundled(bundle.files);
  const files = hasBundled ? bundle.files.filter(({ path }) => !isBundled(path)) : bundle.files;
  const folder = join(resolve(cache), "runs", nameOf(files));
  await new FileCache(resolve(cache), fetchFile).lay(files, folder);
  await layAround(folder);

  const listed = listPaths(files);
  const locate = (reference: unknown): string => {
    if (!isObject(reference) || !("$file" in reference))
      throw new BadBundleError("the run's bundle has a path of its own");
    const { $file: path } = reference;
    requirePath(path);
    if (hasBundled && isBundled(path)) return join(BUNDLED_PATH, path.slice(BUNDLED.length));
    if (!listed.has(path)) mkdirSync(join(folder, path), { recursive: true }); // a folder that was empty
    return join(folder, path);
  };
  const { python: _python, folder: name, config, datasets, ...rest } = spec;
  return {
    ...rest,
    config: { ...config, ...(config.replay !== undefined && { replay: locate(config.replay) }) },
    folder: join(folder, "out", String(name).replace(/[/\\]/g, "_")),
    datasets: datasets.map((dataset) => {
      const { mcpServers } = dataset;
      return { ...replacePaths(dataset, locate), ...(mcpServers && { mcpServers: locateServers(mcpServers, locate) }) };
    }),
  };
}

/** As it is in the bundle: the same, with references for paths. */
type SentRun = ResolvedRun & { python?: string };

function requireVariables({ name, needs }: RunBundle, env: Variables): void {
  const missing = listMissing(needs, env);
  if (missing.length === 0) return;
  throw new LackingError(
    `Run ${name} needs ${missing.join(", ")}, which this worker's environment lacks: it takes no work of that run`,
  );
}

/** An interpreter is not sent: what is named by a path must be there on every machine. */
function requirePython(name: string, python: string | undefined): void {
  if (python === undefined || existsSync(python)) return;
  throw new LackingError(
    `Run ${name} needs Python at ${python} (--python), which this machine lacks: it takes no work of that run`,
  );
}

function isBundled(path: string): boolean {
  return path.startsWith(`${BUNDLED}/`);
}

/** Whether this program has the same bundled domains, so that none of their files is needed. */
async function haveBundled(files: readonly BundleFile[]): Promise<boolean> {
  for (const { path, hash } of files) {
    if (!isBundled(path)) continue;
    if ((await hashFile(join(BUNDLED_PATH, path.slice(BUNDLED.length))).catch(() => "")) !== hash) return false;
  }
  return true;
}

/** Runs with the same files share a folder. */
function nameOf(files: readonly BundleFile[]): string {
  const hash = createHash("sha256");
  for (const { path, hash: content, mode } of [...files].sort((a, b) => (a.path < b.path ? -1 : 1)))
    hash.update(JSON.stringify([path, content, (mode & 0o111) !== 0]));
  return hash.digest("hex").slice(0, 32);
}

/** What code looks for above its own folder: whether it is a module, and this program's own package. */
async function layAround(folder: string): Promise<void> {
  await writeInto(join(folder, "package.json"), "{}\n");
  await writeInto(join(folder, BUNDLED, "package.json"), '{"type":"module"}\n');
  const own = join(folder, "node_modules", PROGRAM_PACKAGE);
  await mkdir(dirname(own), { recursive: true });
  const draft = `${own}.${randomBytes(6).toString("hex")}`;
  await symlink(PROGRAM_FOLDER, draft);
  await rename(draft, own).catch(() => rm(draft, { force: true }));
}

async function writeInto(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  const draft = `${path}.${randomBytes(6).toString("hex")}`;
  await writeFile(draft, text);
  await rename(draft, path);
}

type Servers = NonNullable<ResolvedRun["datasets"][number]["mcpServers"]>;

function locateServers(servers: Servers, locate: (reference: unknown) => string): Servers {
  const fill = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(fill);
    if (!isObject(value)) return value;
    if ("$program" in value) return locateProgram(String(value.$program));
    if ("$file" in value) return `${value.before ?? ""}${locate({ $file: value.$file })}${value.after ?? ""}`;
    return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, fill(member)]));
  };
  return Object.fromEntries(
    Object.entries(servers).map(([name, { here, ...server }]) => [
      name,
      here ? { ...server, here: fill(here) as Servers[string]["here"] } : server,
    ]),
  ) as Servers;
}

function locateProgram(part: string): string {
  if (part === NODE) return process.execPath;
  const path = resolve(PROGRAM_FOLDER, part);
  if (!isWithin(path, resolve(PROGRAM_FOLDER)))
    throw new BadBundleError(`the run's bundle names ${JSON.stringify(part)}`);
  return path;
}
