// The tools that a config, or one of its datasets, names besides domains: MCP servers, files of functions, a corpus, and
// those that come along.
import { z } from "zod";
import { didYouMean, dropUndefined, UsageError } from "../core/index.ts";
import type { OwnTools, ServerLocations } from "../domains/index.ts";
import { BUNDLED_TOOLS, type BundledTool, type McpServersConfig, mcpServersSchema } from "../tools/index.ts";
import { type LocationOf, openYaml } from "./read-yaml.ts";
import type { DatasetConfig } from "./schema.ts";

export type FoundServers = { servers: McpServersConfig; locations: ServerLocations };

const mcpFileSchema = z.looseObject({ mcpServers: mcpServersSchema });

/** What a config, or one of its datasets, says about tools besides domains. */
export type Sources = { mcp?: FoundServers; files?: string[]; corpus?: string; locations: OwnTools["locations"] };

export function readSources(holder: SourceKeys, locationOf: LocationOf): Sources {
  const { tool_files: files, corpus } = holder;
  const keys = (["tool_files", "corpus"] as const).filter((key) => holder[key] !== undefined);
  const locations = Object.fromEntries(keys.map((key) => [key, locationOf([key])]));
  return dropUndefined({ mcp: readServers(holder, locationOf), files, corpus, locations }) as Sources;
}

export function hasTools({ mcp, files, corpus }: Sources): boolean {
  return mcp !== undefined || corpus !== undefined || (files?.length ?? 0) > 0;
}

type SourceKeys = Pick<DatasetConfig, "mcpServers" | "mcp_config_file" | "tool_files" | "corpus">;

function readServers(
  holder: Pick<DatasetConfig, "mcpServers" | "mcp_config_file">,
  locationOf: LocationOf,
): FoundServers | undefined {
  const { mcpServers, mcp_config_file: file } = holder;
  const own = mcpServers && { servers: mcpServers, locations: locateServers(mcpServers, locationOf) };
  if (!file) return own;
  const opened = openYaml(file, mcpFileSchema);
  const { mcpServers: read } = opened.value;
  return {
    servers: { ...read, ...own?.servers },
    locations: { ...locateServers(read, opened.locationOf), ...own?.locations },
  };
}

function locateServers(servers: McpServersConfig, locationOf: LocationOf): ServerLocations {
  const launchKey = (server: string) => (servers[server]?.command === undefined ? "url" : "command");
  return Object.fromEntries(
    Object.keys(servers).map((server) => [server, locationOf(["mcpServers", server, launchKey(server)])]),
  );
}

export function pickServers(name: string, { servers, locations }: FoundServers, tools: string[]): FoundServers {
  const missing = tools.find((tool) => !servers[tool]);
  if (missing)
    throw new UsageError(
      `Dataset "${name}": "${missing}" is neither a domain nor one of mcpServers (${Object.keys(servers).join(", ")})`,
    );
  const picked = tools.map((tool) => [tool, servers[tool] as McpServersConfig[string]]);
  return { servers: Object.fromEntries(picked), locations };
}

export function ownToolsOf(
  name: string,
  { files = [], corpus, locations }: Omit<Sources, "mcp">,
  named: string[],
  besidesFolder: boolean,
): OwnTools | undefined {
  const searching = named.find(isSearching);
  if (searching && corpus === undefined)
    throw new UsageError(`Dataset "${name}": the tool "${searching}" needs documents: corpus (--corpus)`);
  const bundled = named.filter(isBundled);
  const all = searching || corpus === undefined ? bundled : [...bundled, "search" as const, "visit" as const];
  if (files.length === 0 && all.length === 0) return undefined;
  return { files: [...new Set(files)], corpus, bundled: all, besidesFolder, locations };
}

/** No domain was meant by a name that is nearly one of our tools'. */
export function requireSpelling(name: string, tools: readonly string[]): void {
  for (const tool of tools) {
    const hint = didYouMean(tool, BUNDLED_TOOLS);
    if (hint) throw new UsageError(`Dataset "${name}": there is no tool "${tool}"${hint}`);
  }
}

export function isSearching(tool: string): boolean {
  return tool === "search" || tool === "visit";
}

export function isBundled(tool: string): tool is BundledTool {
  return (BUNDLED_TOOLS as readonly string[]).includes(tool);
}
