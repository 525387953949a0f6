// The executed references of a run's queries: what a flawless agent calls, with the arguments it really gives.
import type { JsonObject, Variables } from "../core/index.ts";
import { openResources, type RunResources } from "../domains/index.ts";
import { openRun } from "../runs/index.ts";

import { findReferenceIn } from "./reference.ts";
import { readRunSettings, type ScoreRunOptions } from "./score-run.ts";
import { openStoredDatasets, type StoredDataset } from "./stored-datasets.ts";

export type ReferenceCalls = { source: "plan" | "validated_tasks"; calls: { name: string; arguments: JsonObject }[] };

export type ReferencesOptions = Pick<ScoreRunOptions, "basePath" | "openServers" | "onNotice"> & { env?: Variables };

export class References {
  readonly #resources: RunResources;
  readonly #datasets: Map<string, StoredDataset>;

  private constructor(resources: RunResources, datasets: readonly StoredDataset[]) {
    this.#resources = resources;
    this.#datasets = new Map(datasets.map((dataset) => [dataset.name, dataset]));
  }

  static async open(
    folder: string,
    { basePath, env = {}, openServers, onNotice = () => {} }: ReferencesOptions,
  ): Promise<References> {
    const { manifest } = openRun(folder);
    const { python, pythonProcesses, toolSeconds, nameStyle } = readRunSettings(manifest);
    const resources = openResources({ env, nameStyle, onNotice, python, pythonProcesses, toolSeconds });
    try {
      const servers = openServers?.(manifest, folder, resources);
      const options = { ...resources, basePath, openServers: servers, onNotice };
      return new References(resources, await openStoredDatasets(folder, manifest, options));
    } catch (error) {
      await resources.close();
      throw error;
    }
  }

  /** Undefined if the query has none, or none that could be executed. */
  async find(dataset: string, queryId: string): Promise<ReferenceCalls | undefined> {
    const stored = this.#datasets.get(dataset);
    const query = stored?.query(queryId);
    if (!stored || !query) return undefined;
    const reference = await findReferenceIn(stored, query);
    if (typeof reference === "string" || reference.source === "trajectory") return undefined;
    if (reference.calls.some(({ kind }) => kind === "unplayed")) return undefined;
    const calls = reference.calls.map(({ name, arguments: given }) => ({ name, arguments: given }));
    return { source: reference.source, calls };
  }

  close(): Promise<void> {
    return this.#resources.close();
  }
}
