// Where domains are: the named folder, the usual folders of the working directory, or the bundled one. Each folder
// is opened once, no matter how many datasets it serves.
import { basename, join } from "node:path";
import { didYouMean, UsageError } from "../core/index.ts";
import {
  bundledFolder,
  type DatasetFolder,
  type DatasetKind,
  type DomainFiles,
  findDatasetFolder,
  listLikelyFolders,
  openDatasetFolder,
  parseNames,
} from "../domains/index.ts";
import type { FullConfig } from "./schema.ts";

/** `found`: the folder, or the lack of one, was found and not named. */
export type LocatedFolder = { folder: DatasetFolder; bundled: boolean; kind: DatasetKind; found?: string };
/** A domain or combination with its files; `others` are the single domains next to it. */
export type LocatedDomain = { files: DomainFiles; bundled: boolean; others: DomainFiles[] };

/** What a dataset is looked up by: its `mcp_domain`, else its `tools`, else its own name, else its query file's. */
export type DatasetNames = { name: string; mcpDomain?: string; tools?: string[]; path?: string };

/** Where a dataset folder is found without being named; the second is where the original system keeps its own. */
const USUAL_PLACES = ["datasets", join("rollout", "tools", "datasets")];
const BUNDLED = "the bundled domains";

export type LocatorOptions = Partial<Pick<FullConfig, "base_path" | "bundled" | "query_dir" | "policy_dir">>;

export class DatasetLocator {
  readonly #options: LocatorOptions;
  readonly #opened = new Map<string, LocatedFolder>();
  readonly #singles = new Map<DatasetFolder, DomainFiles[]>();
  readonly #used = new Set<LocatedFolder>();

  constructor(options: LocatorOptions) {
    this.#options = options;
  }

  /** `basePath` replaces the run's own. */
  folder(kind: DatasetKind, basePath = this.#options.base_path, bundled = this.#options.bundled): LocatedFolder {
    const key = JSON.stringify([kind, basePath, bundled]);
    const opened = this.#opened.get(key) ?? this.#open(kind, basePath, bundled);
    this.#opened.set(key, opened);
    return opened;
  }

  /** The folders of these kinds: a base path may hold only one of them. */
  folders(kinds: readonly DatasetKind[], basePath?: string, bundled?: boolean): LocatedFolder[] {
    const problems: unknown[] = [];
    const found = kinds.flatMap((kind) => {
      try {
        return [this.folder(kind, basePath, bundled)];
      } catch (error) {
        if (!(error instanceof UsageError)) throw error;
        problems.push(error);
        return [];
      }
    });
    if (found.length === 0) throw problems[0];
    return found;
  }

  /** The domain or combination of these servers. */
  findServers(servers: string[], basePath?: string): LocatedDomain {
    return this.#orBundled(basePath, (bundled) => this.#findServers(servers, basePath, bundled));
  }

  findDataset(dataset: DatasetNames, basePath?: string): LocatedDomain {
    return this.#orBundled(basePath, (bundled) => this.#findDataset(dataset, basePath, bundled));
  }

  located(files: DomainFiles, opened: LocatedFolder): LocatedDomain {
    const { folder, bundled } = opened;
    this.use(opened);
    const others = this.#singles.get(folder) ?? folder.list("single");
    this.#singles.set(folder, others);
    return { files, bundled, others };
  }

  use(opened: LocatedFolder): void {
    this.#used.add(opened);
  }

  /** One line where a folder looks like a dataset and is not used, unless the folder that is used was named. */
  notes(): string[] {
    const used = [...this.#used].filter(({ found }) => found !== undefined);
    const places = new Set(used.map(({ found }) => found as string));
    const unused = used.length === 0 ? [] : listLikelyFolders(USUAL_PLACES).filter((path) => !places.has(path));
    const [first] = unused;
    if (first === undefined) return [];
    const kinds = used.filter(({ bundled }) => bundled).map(({ kind }) => kind);
    const lacking = kinds.find((kind) => !unused.some((path) => findDatasetFolder(path, kind)));
    const path = /\s/.test(first) ? `"${first}"` : first;
    const remedy = lacking
      ? `no ${lacking}_domain there`
      : `to use it: --base-path ${path}${kinds.length > 0 ? "; to keep this and say no more: --bundled" : ""}`;
    const what = unused.length === 1 ? "looks like a dataset folder and is" : "look like dataset folders and are";
    return [`${unused.join(", ")} ${what} not used: this uses ${[...places].join(" and ")} (${remedy})`];
  }

  #open(kind: DatasetKind, basePath: string | undefined, bundled: boolean | undefined): LocatedFolder {
    const options = { queryDir: this.#options.query_dir, policyDir: this.#options.policy_dir };
    if (basePath) return { folder: openDatasetFolder(basePath, kind, options), bundled: false, kind };
    const usual = bundled ? undefined : USUAL_PLACES.find((place) => findDatasetFolder(place, kind));
    if (usual) return { folder: openDatasetFolder(usual, kind, options), bundled: false, kind, found: usual };
    const found = this.#options.bundled ? undefined : BUNDLED;
    return { folder: bundledFolder(options), bundled: true, kind, found };
  }

  #findServers(servers: string[], basePath: string | undefined, bundled: boolean | undefined): LocatedDomain {
    const opened = this.folder(servers.length === 1 ? "single" : "cross", basePath, bundled);
    return this.located(opened.folder.find(servers), opened);
  }

  #findDataset(dataset: DatasetNames, basePath: string | undefined, bundled: boolean | undefined): LocatedDomain {
    const folders = this.folders(["single", "cross"], basePath, bundled);
    const known = new Set(folders.flatMap(({ folder }) => folder.serverNames()));
    const { name, mcpDomain, tools, path } = dataset;
    const named = mcpDomain ?? tools?.join("+");
    const hints = named ? [named] : [name, path && basename(path, ".jsonl")];
    for (const hint of hints) {
      const servers = hint && parseNames(hint, known);
      if (servers) return this.#findServers(servers, basePath, bundled);
    }
    const asked = mcpDomain ?? tools?.join(", ") ?? name;
    const hint = didYouMean(asked, known) || ".";
    throw new UsageError(`Dataset "${name}": there is no domain "${asked}"${hint} There are: ${[...known].join(", ")}`);
  }

  /** A name that is not in the usual folders of the working directory may still be a bundled one. */
  #orBundled<T>(basePath: string | undefined, find: (bundled: boolean | undefined) => T): T {
    const { base_path, bundled } = this.#options;
    try {
      return find(bundled);
    } catch (error) {
      if (basePath || base_path || bundled || !(error instanceof UsageError)) throw error;
      try {
        return find(true);
      } catch {
        throw error;
      }
    }
  }
}
