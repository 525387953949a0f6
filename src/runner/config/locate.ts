// Where domains are: the folder that was named, the usual folders of the working directory, or the bundled one.
import { existsSync } from "node:fs";
import { basename, join } from "node:path";
import { didYouMean, UsageError } from "../../core/index.ts";
import {
  bundledFolder,
  type DatasetFolder,
  type DatasetKind,
  type DomainFiles,
  type FolderOptions,
  openDatasetFolder,
  parseNames,
} from "../../domains/index.ts";

export type Source = FolderOptions & { basePath?: string; bundled?: boolean };
export type LocatedFolder = { folder: DatasetFolder; bundled: boolean };
export type LocatedDomain = { files: DomainFiles; bundled: boolean; others: DomainFiles[] };

export function locateFolder(kind: DatasetKind, source: Source): LocatedFolder {
  const { basePath, bundled, ...options } = source;
  if (basePath) return { folder: openDatasetFolder(basePath, kind, options), bundled: false };
  const usual = join("datasets", `${kind}_domain`);
  if (!bundled && existsSync(usual)) return { folder: openDatasetFolder(usual, kind, options), bundled: false };
  return { folder: bundledFolder(options), bundled: true };
}

/** The folders of these kinds that a source has: it may hold only one of them. */
export function locateFolders<K extends DatasetKind>(
  kinds: readonly K[],
  source: Source,
): (LocatedFolder & { kind: K })[] {
  const problems: unknown[] = [];
  const found = kinds.flatMap((kind) => {
    try {
      return [{ kind, ...locateFolder(kind, source) }];
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      problems.push(error);
      return [];
    }
  });
  if (found.length === 0) throw problems[0];
  return found;
}

export function locateDomain(names: string[], source: Source): LocatedDomain {
  return orBundled(source, (from) => {
    const { folder, bundled } = locateFolder(names.length === 1 ? "single" : "cross", from);
    return { files: folder.find(names), bundled, others: folder.list("single") };
  });
}

/** A name that the usual folders of the working directory do not know may still be a bundled one's. */
function orBundled<T>(source: Source, look: (source: Source) => T): T {
  try {
    return look(source);
  } catch (error) {
    if (source.basePath || source.bundled || !(error instanceof UsageError)) throw error;
    try {
      return look({ ...source, bundled: true });
    } catch {
      throw error;
    }
  }
}

type DatasetNames = { name: string; mcpDomain?: string; tools?: string[]; path?: string };

/** What a dataset of a config means: its `mcp_domain`, else its `tools`, else its own name, else its query file's. */
export function locateDataset(dataset: DatasetNames, source: Source): LocatedDomain {
  return orBundled(source, (from) => findDataset(dataset, from));
}

function findDataset(dataset: DatasetNames, source: Source): LocatedDomain {
  const known = new Set(locateFolders(["single", "cross"], source).flatMap(({ folder }) => folder.serverNames()));
  const { name, mcpDomain, tools, path } = dataset;
  const named = mcpDomain ?? tools?.join("+");
  const hints = named ? [named] : [name, path && basename(path, ".jsonl")];
  for (const hint of hints) {
    const servers = hint && parseNames(hint, known);
    if (servers) return locateDomain(servers, source);
  }
  const asked = mcpDomain ?? tools?.join(", ") ?? name;
  const hint = didYouMean(asked, known) || ".";
  throw new UsageError(`Dataset "${name}": there is no domain "${asked}"${hint} There are: ${[...known].join(", ")}`);
}
