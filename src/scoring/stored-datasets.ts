// A run's datasets as its manifest holds them: where their queries and tools are, and environments like those that their
// records were made in.
import { existsSync } from "node:fs";
import { dirname, relative, resolve } from "node:path";
import { z } from "zod";
import {
  type Environment,
  isObject,
  type Json,
  type JsonObject,
  type Query,
  type Trajectory,
  UsageError,
  type World,
} from "../core/index.ts";
import {
  BUNDLED_PATH,
  DatasetFolder,
  type Domain,
  type DomainFiles,
  type DomainResources,
  type Isolation,
  loadDomain,
  openDatasetFolder,
  openForMode,
  openQueryFiles,
  type QueryDefaults,
  type QueryFile,
} from "../domains/index.ts";
import { type Manifest, type ManifestDataset, recordFiles, rolloutFingerprint } from "../runs/index.ts";
import {
  type McpServersConfig,
  type NameStyle,
  type ToolFaults,
  toolFaultsSchema,
  withToolFaults,
} from "../tools/index.ts";
import { readRecordedDomain } from "./recorded-domain.ts";
import { type FindValidated, openValidatedTasks } from "./validated-tasks.ts";

/** Where a dataset's queries and tools come from. */
export type DatasetOrigin = {
  domain: DomainFiles;
  queryFiles: string[];
  mcpServers?: McpServersConfig;
  ownTools?: object;
  isolation?: Isolation;
  defaults?: QueryDefaults;
  answerFormat?: string;
};

/** Whose environment a record's was, and how it was made. */
type RecordWorld = World & { query: Query } & Pick<Trajectory["metadata"], "mode" | "fingerprint">;

export function worldOf({ rollout, metadata }: Trajectory, query: Query): RecordWorld {
  const { seed, mode, fingerprint } = metadata;
  return { query, rollout, seed, mode, fingerprint };
}

/** Opens an environment like the rollout's own. */
type OpenLike = (world: RecordWorld) => Promise<Environment>;

export type StoredDataset = {
  name: string;
  /** the files that hold its records */
  outputs: string[];
  domain: Domain | undefined;
  query(id: string): Query | undefined;
  validated?: FindValidated;
  answerFormat?: string;
  /** or why there is none */
  openEnvironment: OpenLike | string;
};

export type StoredFromOptions = DomainResources & {
  /** a different dataset folder from the one the run was made with */
  basePath?: string;
  /** the tools of a dataset that are in the run's config, or why there are none */
  openServers?: (dataset: string, query: Query) => Promise<Domain | string>;
  onNotice(message: string): void;
};

type StoredSource = {
  domain: DomainFiles;
  query_files: string[];
  /** its tools, or some of them, are in the run's config: MCP servers, functions, a corpus */
  mcp: boolean;
  name_style: NameStyle;
  isolation?: Isolation;
  defaults?: QueryDefaults;
  answer_format?: string;
};

const paths = z.array(z.string());
const named = z.record(z.string(), z.string());
const sourceSchema = z.object({
  domain: z.looseObject({
    ...{ name: z.string(), servers: paths, queryFiles: paths, policyFile: z.string().optional() },
    ...{ serverFiles: named, toolListFiles: named, tableFolders: paths, databaseName: z.string() },
  }),
  query_files: paths,
});

/** For the manifest: absolute paths; bundled domains are marked as such, independent of where we are installed. */
export function describeSource(
  { domain, queryFiles, mcpServers, ownTools, isolation, defaults = {}, answerFormat }: DatasetOrigin,
  nameStyle: NameStyle,
): Json {
  const source: StoredSource = {
    domain: { ...domain, queryFiles: domain.queryFiles.map((file) => resolve(file)) },
    query_files: queryFiles.map((file) => resolve(file)),
    mcp: (mcpServers ?? ownTools) !== undefined,
    name_style: nameStyle,
    ...(isolation === "process" && { isolation }),
  };
  const written = mapPaths(JSON.parse(JSON.stringify(source)) as Json, (path) => {
    const inside = relative(BUNDLED_PATH, resolve(path));
    return inside.startsWith("..") ? resolve(path) : `${BUNDLED}${inside}`;
  });
  return {
    ...(written as JsonObject),
    ...(Object.keys(defaults).length > 0 && { defaults: defaults as Json }),
    ...(answerFormat !== undefined && { answer_format: answerFormat }),
  };
}

const BUNDLED = "bundled:";

function unbundle(path: string): string {
  return path.startsWith(BUNDLED) ? resolve(BUNDLED_PATH, path.slice(BUNDLED.length)) : path;
}

/** A text with a separator in it is a path; names of domains and servers have none. */
function mapPaths(value: Json, change: (path: string) => string): Json {
  if (typeof value === "string") return /[\\/]|\.jsonl$/.test(value) ? change(value) : value;
  if (Array.isArray(value)) return value.map((item) => mapPaths(item, change));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, mapPaths(member as Json, change)]));
}

export async function openStoredDatasets(
  folder: string,
  { datasets }: Pick<Manifest, "datasets">,
  options: StoredFromOptions,
): Promise<StoredDataset[]> {
  const opened: StoredDataset[] = [];
  for (const [name, dataset] of Object.entries(datasets)) {
    opened.push(await openStoredDataset(folder, name, dataset, options));
  }
  return opened;
}

async function openStoredDataset(
  folder: string,
  name: string,
  dataset: ManifestDataset,
  { basePath, openServers, onNotice, ...resources }: StoredFromOptions,
): Promise<StoredDataset> {
  const outputs = recordFiles(folder, name, dataset.output);
  if (!dataset.source) {
    onNotice(`${name}: this run was made by an earlier version and does not say where its queries are`);
    return { name, outputs, domain: undefined, query: () => undefined, openEnvironment: "the domain is not known" };
  }
  const written = mapPaths(dataset.source, unbundle);
  const { defaults, answer_format: answerFormat } = dataset.source as Pick<StoredSource, "defaults" | "answer_format">;
  if (!sourceSchema.safeParse(written).success)
    throw new UsageError(`The run's manifest is damaged: it does not say where the queries and tools of ${name} are`);
  const kept = written as unknown as StoredSource;
  const files = basePath ? findInFolder(basePath, kept.domain) : kept.domain;
  const queryFiles = basePath && files.queryFiles.length > 0 ? files.queryFiles : kept.query_files;
  const { policyFile, serverFiles, toolListFiles } = files;
  const needed = [...queryFiles, ...Object.values(serverFiles), ...Object.values(toolListFiles), policyFile ?? []];
  const gone = needed.flat().find((file) => !existsSync(file));
  if (gone)
    throw new UsageError(
      `${name}: ${gone} is no longer there; put it back (rollout eval takes another dataset folder: --base-path)`,
    );
  const queries = openQueryFiles(queryFiles, defaults);
  const query = createFinder(queries);
  const domain = kept.mcp
    ? ((await openServers?.(name, queries.load(0))) ?? "its tools are not started here")
    : await loadDomain(files, { ...resources, nameStyle: kept.name_style, isolation: kept.isolation });
  if (typeof domain === "string") {
    if (openServers) onNotice(`${name}: ${domain}; calls are compared with the plans by name and arguments`);
    const content = String(dataset.parts["domain content"]);
    const recorded = readRecordedDomain({ folder, name, outputs, contentHash: content });
    return { name, outputs, domain: recorded, query, answerFormat, openEnvironment: domain };
  }
  if (dataset.parts["domain content"] !== domain.contentHash)
    onNotice(`${name}: the domain's tools, data or code changed since the run`);
  const others = listNeighbours(files);
  return {
    name,
    outputs,
    domain,
    query,
    answerFormat,
    validated: openValidatedTasks(files),
    openEnvironment: async ({ fingerprint, ...world }) => {
      const environment = await openForMode(domain, { ...world, others });
      const faults = findFaults(dataset, fingerprint, world.query);
      return faults ? withToolFaults(environment, { ...faults, seed: world.seed }) : environment;
    },
  };
}

/** A dataset's queries, where its manifest says they are: files are read, nothing is run. */
export function openStoredQueries({ source }: ManifestDataset): (id: string) => Query | undefined {
  if (!isObject(source)) return () => undefined;
  const written = mapPaths(source as JsonObject, unbundle) as unknown as StoredSource;
  if (!sourceSchema.safeParse(written).success) return () => undefined;
  return createFinder(openQueryFiles(written.query_files, written.defaults));
}

/** The single domains of the same folder: `wrong_tool` offers their tools. */
function listNeighbours({ serverFiles }: DomainFiles): DomainFiles[] {
  const [server] = Object.values(serverFiles);
  return server === undefined ? [] : new DatasetFolder(dirname(dirname(server))).list("single");
}

/** By the settings that the record was made under, which may be earlier ones of the run. */
function findFaults(dataset: ManifestDataset, fingerprint: string, { hash }: Query): ToolFaults | undefined {
  const { parts } =
    [dataset, ...(dataset.earlier ?? [])].find(({ base }) => rolloutFingerprint(base, hash) === fingerprint) ?? dataset;
  return toolFaultsSchema.safeParse(parts["tool faults"]).data;
}

function findInFolder(basePath: string, { servers }: DomainFiles): DomainFiles {
  return openDatasetFolder(basePath, servers.length === 1 ? "single" : "cross").find(servers);
}

export function createFinder(queries: QueryFile): (id: string) => Query | undefined {
  const indexes = new Map(queries.ids.map((id, index) => [id, index]));
  return (id) => {
    const index = indexes.get(id);
    return index === undefined ? undefined : queries.load(index);
  };
}
