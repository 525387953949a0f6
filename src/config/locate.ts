// Where domains are: the named folder, the usual folders of the working directory, or the bundled one. Each folder
// is opened once, no matter how many datasets it serves.
import { existsSync } from "node:fs";
import { basename, join } from "node:path";
import { didYouMean, UsageError } from "../core/index.ts";
import {
  bundledFolder,
  type DatasetFolder,
  type DatasetKind,
  type DomainFiles,
  openDatasetFolder,
  parseNames,
} from "../domains/index.ts";
import type { FullConfig } from "./schema.ts";

export type LocatedFolder = { folder: DatasetFolder; bundled: boolean };
/** A domain or combination with its files; `others` are the single domains next to it. */
export type LocatedDomain = { files: DomainFiles; bundled: boolean; others: DomainFiles[] };

/** What a dataset is looked up by: its `mcp_domain`, else its `tools`, else its own name, else its query file's. */
export type DatasetNames = { name: string; mcpDomain?: string; tools?: string[]; path?: string };

export type LocatorOptions = Partial<Pick<FullConfig, "base_path" | "bundled" | "query_dir" | "policy_dir">>;

export class DatasetLocator {
  readonly #options: LocatorOptions;
  readonly #opened = new Map<string, LocatedFolder>();
  readonly #singles = new Map<DatasetFolder, DomainFiles[]>();

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
  folders(
    kinds: readonly DatasetKind[],
    basePath?: string,
    bundled?: boolean,
  ): (LocatedFolder & { kind: DatasetKind })[] {
    const problems: unknown[] = [];
    const found = kinds.flatMap((kind) => {
      try {
        return [{ kind, ...this.folder(kind, basePath, bundled) }];
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

  located(files: DomainFiles, { folder, bundled }: LocatedFolder): LocatedDomain {
    const others = this.#singles.get(folder) ?? folder.list("single");
    this.#singles.set(folder, others);
    return { files, bundled, others };
  }

  #open(kind: DatasetKind, basePath: string | undefined, bundled: boolean | undefined): LocatedFolder {
    const options = { queryDir: this.#options.query_dir, policyDir: this.#options.policy_dir };
    if (basePath) return { folder: openDatasetFolder(basePath, kind, options), bundled: false };
    const usual = join("datasets", `${kind}_domain`);
    if (!bundled && existsSync(usual)) return { folder: openDatasetFolder(usual, kind, options), bundled: false };
    return { folder: bundledFolder(options), bundled: true };
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
