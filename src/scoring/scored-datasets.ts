// Datasets as evaluation needs them: from the run itself while it is running, or later from its manifest; and the dataset
// of records that have no manifest.
import { type Environment, type Query, UsageError, type World } from "../core/index.ts";
import {
  type Domain,
  type DomainFiles,
  type DomainResources,
  loadDomain,
  openQueryFiles,
  openTask,
  type QueryFile,
} from "../domains/index.ts";
import type { Manifest } from "../runs/index.ts";
import {
  createFinder,
  type DatasetOrigin,
  openStoredDatasets,
  type StoredDataset,
  type StoredFromOptions,
} from "./stored-datasets.ts";
import { openValidatedTasks } from "./validated-tasks.ts";

/** A dataset that is being played. */
export type PlayedDataset = {
  spec: DatasetOrigin & { name: string };
  domain: Domain;
  queries: QueryFile;
  openEnvironment(world: World & { query: Query }): Promise<Environment>;
  /** the files that hold its records */
  outputs: string[];
};

const NO_TOOLS = "plain questions have no reference calls";

export function toScoredDataset(dataset: PlayedDataset): StoredDataset {
  const { spec, domain, queries, outputs } = dataset;
  return {
    name: spec.name,
    outputs,
    domain,
    query: createFinder(queries),
    answerFormat: spec.answerFormat,
    validated: openValidatedTasks(spec.domain),
    openEnvironment: domain.servers.length === 0 ? NO_TOOLS : (world) => dataset.openEnvironment(world),
  };
}

export async function openScoredDatasets(
  folder: string,
  manifest: Manifest,
  options: StoredFromOptions,
): Promise<StoredDataset[]> {
  const stored = await openStoredDatasets(folder, manifest, options);
  return stored.map((dataset) =>
    dataset.domain?.servers.length === 0 ? { ...dataset, domain: undefined, openEnvironment: NO_TOOLS } : dataset,
  );
}

/** For records made elsewhere, which all belong to this domain or combination. */
export async function openRecordsDataset(
  files: DomainFiles,
  outputs: string[],
  resources: DomainResources,
): Promise<StoredDataset> {
  const { name, queryFiles, missing } = files;
  if (queryFiles.length === 0) throw new UsageError(`${name} has no queries: missing are ${missing.join(", ")}`);
  const domain = await loadDomain(files, resources);
  return {
    name,
    outputs,
    domain,
    query: createFinder(openQueryFiles(queryFiles)),
    validated: openValidatedTasks(files),
    openEnvironment: (world) => openTask(domain, world),
  };
}
