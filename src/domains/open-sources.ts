// A dataset's tools from wherever the config takes them, as one domain: a folder's domain or MCP servers, files of plain
// functions, a corpus, tools that come along. Runs, resumes, replays, scores and checks all open theirs here.
import { basename, dirname, extname, resolve } from "node:path";
import { atLocation, type Location } from "../core/index.ts";
import type { BundledTool, McpServersConfig } from "../tools/index.ts";
import { combineDomains } from "./combine.ts";
import { type Domain, type DomainResources, type Isolation, loadDomain } from "./domain.ts";
import type { DomainFiles } from "./folder.ts";
import { loadCalculator, loadCorpusDomain, loadFunctionDomain } from "./function-domain.ts";

/** Tools that are neither a folder's nor those of MCP servers. */
export type OwnTools = {
  /** of plain functions */
  files: string[];
  corpus?: string;
  bundled: BundledTool[];
  /** they come next to a domain of a folder */
  besidesFolder: boolean;
  /** where the config names them, by its key */
  locations: { [key: string]: Location | undefined };
};

export type ToolSources = {
  name: string;
  domain: DomainFiles;
  mcpServers?: McpServersConfig;
  ownTools?: OwnTools;
  isolation?: Isolation;
};

/** `openServers` starts the MCP servers, if there are any. */
export async function openSources(
  { name, domain: files, mcpServers, ownTools, isolation }: ToolSources,
  resources: DomainResources,
  openServers: () => Promise<Domain>,
): Promise<Domain> {
  const own = { ...resources, isolation };
  if (!ownTools) return mcpServers ? openServers() : loadDomain(files, own);
  const parts = mcpServers ? [await openServers()] : ownTools.besidesFolder ? [await loadDomain(files, own)] : [];
  const names = nameServers(ownTools.files);
  for (const [index, file] of ownTools.files.entries()) {
    const server = names[index] as string;
    parts.push(await atLocation(ownTools.locations.tool_files, () => loadFunctionDomain(file, server, own)));
  }
  const { corpus, bundled, locations } = ownTools;
  if (corpus !== undefined)
    parts.push(await atLocation(locations.corpus, () => loadCorpusDomain(corpus, bundled, own)));
  if (bundled.includes("calculator")) parts.push(loadCalculator(own));
  return combineDomains(name, parts, resources.nameStyle);
}

/** The servers that a dataset's own tools count as. */
export function listOwnServers({ files, corpus, bundled }: Omit<OwnTools, "besidesFolder" | "locations">): string[] {
  return [
    ...nameServers(files),
    ...(corpus === undefined ? [] : ["corpus"]),
    ...(bundled.includes("calculator") ? ["calculator"] : []),
  ];
}

/** By their files; those of the same name by their folders, too. */
function nameServers(files: readonly string[]): string[] {
  const stems = files.map((file) => basename(file, extname(file)));
  const names = stems.map((stem, index) => {
    const isShared = stems.indexOf(stem) !== stems.lastIndexOf(stem);
    return isShared ? `${basename(dirname(resolve(files[index] as string)))}_${stem}` : stem;
  });
  return names.map((name, index) => {
    const before = names.slice(0, index).filter((other) => other === name).length;
    return before === 0 ? name : `${name}_${before + 1}`;
  });
}
