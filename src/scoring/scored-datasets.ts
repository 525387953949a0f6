// The datasets of a run as evaluation needs them: from the run itself while it is running, or later from its manifest;
// and the dataset of records that have no manifest.
import { existsSync } from "node:fs";
import { relative, resolve } from "node:path";
import { type Environment, isObject, type Json, type Query, UsageError } from "../core/index.ts";
import {
  BUNDLED_PATH,
  type Domain,
  type DomainFiles,
  type DomainResources,
  loadDomain,
  openDatasetFolder,
  openForMode,
  openQueryFiles,
  type QueryFile,
} from "../domains/index.ts";
import { type Manifest, type ManifestDataset, recordFiles } from "../runs/index.ts";
import {
  type McpServersConfig,
  type NameStyle,
  type ToolFaults,
  toolFaultsSchema,
  withToolFaults,
} from "../tools/index.ts";
import type { ScoredDataset } from "./evaluate.ts";
import { openValidatedTasks } from "./validated-tasks.ts";

/** Where a dataset's queries and tools come from. */
type DatasetOrigin = { domain: DomainFiles; queryFiles: string[]; mcpServers?: McpServersConfig };

/** A dataset that is being played. */
export type PlayedDataset = {
  spec: DatasetOrigin & { name: string };
  domain: Domain;
  queries: QueryFile;
  openEnvironment(query: Query, seed: number): Promise<Environment>;
  /** the files that hold its records */
  outputs: string[];
};

type StoredSource = { domain: DomainFiles; query_files: string[]; mcp: boolean; name_style: NameStyle };

const SHARED_TOOLS = "the tools are real MCP servers, whose calls are never repeated";
const NO_TOOLS = "plain questions have no reference calls";

/** For the manifest: absolute paths; bundled domains are marked as such, independent of where we are installed. */
export function describeSource({ domain, queryFiles, mcpServers }: DatasetOrigin, nameStyle: NameStyle): Json {
  const source: StoredSource = {
    domain,
    query_files: queryFiles,
    mcp: mcpServers !== undefined,
    name_style: nameStyle,
  };
  return mapPaths(JSON.parse(JSON.stringify(source)) as Json, (path) => {
    const inside = relative(BUNDLED_PATH, resolve(path));
    return inside.startsWith("..") ? resolve(path) : `${BUNDLED}${inside}`;
  });
}

const BUNDLED = "bundled:";

/** A text with a separator in it is a path; names of domains and servers have none. */
function mapPaths(value: Json, change: (path: string) => string): Json {
  if (typeof value === "string") return /[\\/]|\.jsonl$/.test(value) ? change(value) : value;
  if (Array.isArray(value)) return value.map((item) => mapPaths(item, change));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, mapPaths(member as Json, change)]));
}

export function toScoredDataset(dataset: PlayedDataset): ScoredDataset {
  const { spec, domain, queries, outputs } = dataset;
  return {
    name: spec.name,
    outputs,
    domain,
    query: createFinder(queries),
    validated: openValidatedTasks(spec.domain),
    openEnvironment: spec.mcpServers ? SHARED_TOOLS : domain.servers.length === 0 ? NO_TOOLS : dataset.openEnvironment,
  };
}

export type ScoredFromOptions = DomainResources & {
  /** a different dataset folder from the one the run was made with */
  basePath?: string;
  onNotice(message: string): void;
};

export async function openScoredDatasets(
  folder: string,
  manifest: Manifest,
  options: ScoredFromOptions,
): Promise<ScoredDataset[]> {
  const datasets: ScoredDataset[] = [];
  for (const [name, dataset] of Object.entries(manifest.datasets)) {
    datasets.push(await openScoredDataset(name, dataset, recordFiles(folder, name, dataset.output), options));
  }
  return datasets;
}

async function openScoredDataset(
  name: string,
  { source, parts }: ManifestDataset,
  outputs: string[],
  { basePath, onNotice, ...resources }: ScoredFromOptions,
): Promise<ScoredDataset> {
  if (!source) {
    onNotice(`${name}: this run was made by an earlier version and does not say where its queries are`);
    return { name, outputs, domain: undefined, query: () => undefined, openEnvironment: "the domain is not known" };
  }
  const kept = mapPaths(source, (path) =>
    path.startsWith(BUNDLED) ? resolve(BUNDLED_PATH, path.slice(BUNDLED.length)) : path,
  ) as unknown as StoredSource;
  const files = basePath ? findInFolder(basePath, kept.domain) : kept.domain;
  const queryFiles = basePath && files.queryFiles.length > 0 ? files.queryFiles : kept.query_files;
  const gone = [...queryFiles, ...Object.values(files.serverFiles)].find((file) => !existsSync(file));
  if (gone) throw new UsageError(`${name}: ${gone} is no longer there; name its dataset folder with --base-path`);
  const query = createFinder(openQueryFiles(queryFiles));
  if (kept.mcp || files.servers.length === 0)
    return { name, outputs, domain: undefined, query, openEnvironment: kept.mcp ? SHARED_TOOLS : NO_TOOLS };
  const domain = await loadDomain(files, { ...resources, nameStyle: kept.name_style });
  if (parts["domain content"] !== domain.contentHash)
    onNotice(`${name}: the domain's tools, data or code changed since the run`);
  const faults = toolFaultsSchema.safeParse(parts["tool faults"]).data as ToolFaults | undefined;
  return {
    name,
    outputs,
    domain,
    query,
    validated: openValidatedTasks(files),
    openEnvironment: async (asked, seed) => {
      const environment = await openForMode(domain, { mode: "positive", seed, query: asked, others: [] });
      return faults ? withToolFaults(environment, { ...faults, seed }) : environment;
    },
  };
}

/** For records made elsewhere, which all belong to this domain or combination. */
export async function openRecordsDataset(
  files: DomainFiles,
  outputs: string[],
  resources: DomainResources,
): Promise<ScoredDataset> {
  const { name, queryFiles, missing } = files;
  if (queryFiles.length === 0) throw new UsageError(`${name} has no queries: missing are ${missing.join(", ")}`);
  const domain = await loadDomain(files, resources);
  return {
    name,
    outputs,
    domain,
    query: createFinder(openQueryFiles(queryFiles)),
    validated: openValidatedTasks(files),
    openEnvironment: (_query, seed) => domain.openEnvironment(seed),
  };
}

function findInFolder(basePath: string, { servers }: DomainFiles): DomainFiles {
  return openDatasetFolder(basePath, servers.length === 1 ? "single" : "cross").find(servers);
}

function createFinder(queries: QueryFile): (id: string) => Query | undefined {
  const indexes = new Map(queries.ids.map((id, index) => [id, index]));
  return (id) => {
    const index = indexes.get(id);
    return index === undefined ? undefined : queries.load(index);
  };
}
