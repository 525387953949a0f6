// A user's dataset folder: which domains and combinations it holds, and which file belongs to which. Reads names only;
// contents are read when a domain is loaded.
import { existsSync, readdirSync, statSync } from "node:fs";
import { basename, extname, join } from "node:path";
import { didYouMean, UsageError } from "../core/index.ts";
import { matchName, setKey, splitStem } from "./names.ts";

export type DatasetKind = "single" | "cross";
export type FolderOptions = { queryDir?: string; policyDir?: string; label?: string };

/** One domain or combination and the files it has. `missing` lists what it lacks. */
export type DomainFiles = {
  name: string;
  servers: string[];
  queryFiles: string[];
  policyFile: string | undefined;
  toolListFiles: { [server: string]: string };
  serverFiles: { [server: string]: string };
  /** folders of `*.json` tables, in order; later ones add to earlier ones */
  tableFolders: string[];
  /** the name passed to Python servers: their own name, or the combination's in the order that its database uses */
  databaseName: string;
  missing: string[];
};

const KINDS: DatasetKind[] = ["single", "cross"];
const PARTS = ["queries", "tool_lists", "mcp_servers"];
const SERVER_EXTENSIONS = [".ts", ".mts", ".js", ".mjs", ".py"];

export class DatasetFolder {
  readonly path: string;
  /** its name in messages: its path, or "the bundled domains" */
  readonly label: string;
  readonly #queryDir: string;
  readonly #policyDir: string;
  readonly #toolLists: Map<string, string>;
  readonly #servers: Map<string, string>;

  constructor(path: string, options: FolderOptions = {}) {
    this.path = path;
    this.label = options.label ?? path;
    this.#queryDir = options.queryDir ?? join(path, "queries");
    this.#policyDir = options.policyDir ?? join(path, "policies");
    for (const folder of [options.queryDir, options.policyDir]) if (folder) requireFolder(folder);
    this.#toolLists = filesByStem(join(path, "tool_lists"), [".json"]);
    this.#servers = filesByStem(join(path, "mcp_servers"), SERVER_EXTENSIONS);
  }

  serverNames(): string[] {
    const names = new Set([...this.#servers.keys(), ...this.#toolLists.keys()]);
    return [...names].filter((name) => !name.startsWith("_")).sort();
  }

  /** Every domain (single) or combination (cross) that has queries, or a server of its own. */
  list(kind: DatasetKind): DomainFiles[] {
    const known = this.serverNames();
    const sets = new Map<string, string[]>();
    if (kind === "single") for (const name of known) sets.set(setKey([name]), [name]);
    for (const stem of this.#queryStems().keys()) {
      const servers = splitStem(stem, known);
      if ((servers.length === 1) === (kind === "single")) sets.set(setKey(servers), servers);
    }
    return [...sets.values()].map((servers) => this.#files(servers)).sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** The domain or combination meant by these names, in any order and spelling. */
  find(names: string[]): DomainFiles {
    const known = this.serverNames();
    const servers = names.map((name) => {
      const match = matchName(name, known);
      if (match) return match;
      const hint = didYouMean(name, known) || ".";
      throw new UsageError(
        `There is no domain "${name}"${hint} There are: ${known.join(", ") || "none"} (in ${this.label})`,
      );
    });
    return this.#files([...new Set(servers)]);
  }

  /** Its servers are in the query file's order, else alphabetical: never in the order they were requested. */
  #files(set: string[]): DomainFiles {
    const key = setKey(set);
    const known = this.serverNames();
    const sameSet = (stem: string) => setKey(splitStem(stem, known)) === key;
    const stems = [...this.#queryStems()].filter(([stem]) => sameSet(stem));
    const servers = stems[0] ? splitStem(stems[0][0], known) : [...set].sort();
    const name = servers.join("_");
    const policies = filesByStem(this.#policyDir, [".md"]);
    const policyFile = [...policies].find(([stem]) => sameSet(stem))?.[1];
    const toolListFiles = pick(this.#toolLists, servers);
    const serverFiles = pick(this.#servers, servers);
    const missing = [
      ...servers.filter((server) => !toolListFiles[server]).map((server) => `tool_lists/${server}.json`),
      ...servers.filter((server) => !serverFiles[server]).map((server) => `mcp_servers/${server}`),
      ...(policyFile ? [] : [`policies/${name}.md`]),
      ...(stems.length > 0 ? [] : [`queries/${name}.jsonl`]),
    ];
    const queryFiles = stems.flatMap(([, files]) => files);
    const tableFolders = this.#tableFolders(servers, sameSet);
    const databaseName = tableFolders.map((folder) => basename(folder)).find(sameSet) ?? name;
    return { name, servers, queryFiles, policyFile, toolListFiles, serverFiles, tableFolders, databaseName, missing };
  }

  /** Flat entities for all; a combination's own folder replaces them, if it exists. */
  #tableFolders(servers: string[], sameSet: (stem: string) => boolean): string[] {
    const outputs = join(this.path, "database", "outputs");
    const own = (part: string) => folders(join(outputs, part)).filter((folder) => sameSet(basename(folder)));
    const entities = own("entities");
    const relationships = own("relationships");
    const single = servers.flatMap((server) =>
      folders(join(outputs, "relationships")).filter((f) => basename(f) === server),
    );
    return [
      ...(entities.length > 0 ? entities : [join(outputs, "entities")]),
      ...(relationships.length > 0 ? relationships : single),
    ].filter((folder) => existsSync(folder));
  }

  #queryStems(): Map<string, string[]> {
    const stems = new Map<string, string[]>();
    for (const [stem, file] of filesByStem(this.#queryDir, [".jsonl"])) stems.set(stem, [file]);
    for (const folder of folders(this.#queryDir)) {
      const files = [...filesByStem(folder, [".jsonl"]).values()];
      if (files.length > 0) stems.set(basename(folder), [...(stems.get(basename(folder)) ?? []), ...files]);
    }
    return stems;
  }
}

/** The dataset root for a kind: the folder itself, or its `single_domain` / `single domain` part. */
export function openDatasetFolder(base: string, kind: DatasetKind, options: FolderOptions = {}): DatasetFolder {
  requireFolder(base);
  const path = innerFolder(base, kind) ?? base;
  if (!PARTS.some((part) => existsSync(join(path, part))) && !options.queryDir) {
    throw new UsageError(`${path} is not a dataset folder: it has none of ${PARTS.join(", ")}`);
  }
  return new DatasetFolder(path, options);
}

/** The same for a folder that nobody named: undefined unless it is clearly meant as one. */
export function findDatasetFolder(base: string, kind: DatasetKind): string | undefined {
  return innerFolder(base, kind) ?? (isLikely(base) ? base : undefined);
}

/** These places, the working directory and the folders in it, as far as they look like datasets. */
export function listLikelyFolders(places: string[]): string[] {
  const near = folders(".").filter((path) => !/^(\.|node_modules$)/.test(path));
  return [...new Set([...places, ".", ...near])].filter(
    (base) => isLikely(base) || KINDS.some((kind) => isLikely(innerFolder(base, kind))),
  );
}

function innerFolder(base: string, kind: DatasetKind): string | undefined {
  return [`${kind}_domain`, `${kind} domain`].map((name) => join(base, name)).find((path) => existsSync(path));
}

function isLikely(path: string | undefined): boolean {
  if (path === undefined || !existsSync(join(path, "queries"))) return false;
  return PARTS.filter((part) => existsSync(join(path, part))).length > 1;
}

function requireFolder(path: string): void {
  if (!existsSync(path)) throw new UsageError(`There is no folder ${path}`);
  if (!statSync(path).isDirectory()) throw new UsageError(`${path} is a file, not a folder`);
}

/** If files share a stem, the extension that comes first in the list wins. */
function filesByStem(folder: string, extensions: string[]): Map<string, string> {
  const found = new Map<string, string>();
  if (!existsSync(folder)) return found;
  const files = readdirSync(folder).filter(
    (file) => extensions.includes(extname(file)) && !/\.(test|d)\.[cm]?ts$/.test(file),
  );
  const rank = (file: string) => extensions.indexOf(extname(file));
  for (const file of files.sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1))) {
    const stem = basename(file, extname(file));
    if (!found.has(stem)) found.set(stem, join(folder, file));
  }
  return found;
}

function folders(path: string): string[] {
  if (!existsSync(path)) return [];
  return readdirSync(path, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => join(path, entry.name))
    .sort();
}

function pick(files: Map<string, string>, servers: string[]): { [server: string]: string } {
  return Object.fromEntries(
    servers.flatMap((server) => (files.has(server) ? [[server, files.get(server) as string]] : [])),
  );
}
