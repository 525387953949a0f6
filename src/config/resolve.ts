// From a config and a patch to a run: defaults filled in, domains located, prompts read, models named.
import { existsSync } from "node:fs";
import { basename, extname, join } from "node:path";
import { UsageError } from "../core/index.ts";
import type { DomainFiles } from "../domains/index.ts";
import type { PartyModel, Registry } from "../models/index.ts";
import type { Manifest } from "../runs/index.ts";
import { complaintsOf } from "./complaints.ts";
import { findDatasets, resolveDataset } from "./datasets.ts";
import { restoreKeys } from "./keys.ts";
import { DatasetLocator } from "./locate.ts";
import { readModelsFile, usualModelsFile } from "./models-file.ts";
import { type ConfigPatch, patchConfig } from "./patch.ts";
import { type LocationOf, openYaml, readYaml } from "./read-yaml.ts";
import type { ResolvedRun } from "./run-spec.ts";
import { type Config, configSchema, type FullConfig } from "./schema.ts";

export type ResolveOptions = {
  /** the run folder, if neither config nor patch names one */
  folder: string;
  patch?: ConfigPatch;
  configFile?: string;
  locationOf?: LocationOf;
  /** one that has already opened the dataset folders */
  locator?: DatasetLocator;
};

export function resolveConfigFile(file: string, patch?: ConfigPatch): ResolvedRun {
  const folder = join("outputs", basename(file, extname(file)));
  const { value, locationOf } = openYaml(file, configSchema);
  return resolveFull(value, { folder, patch, configFile: file, locationOf });
}

export function resolveConfig(config: Config, options: ResolveOptions): ResolvedRun {
  return resolveFull(parseConfig(config), options);
}

/** A run as recorded in its folder. Paths are relative to the folder in which it was started. */
export function resolveManifest({ config, config_file }: Manifest, folder: string, patch: ConfigPatch): ResolvedRun {
  const original = () =>
    config_file !== undefined && existsSync(config_file) ? readYaml(config_file, configSchema) : undefined;
  const restored = restoreKeys(config, original) as Config;
  const own = { resume: true, ...patch, output_dir: folder };
  const stored = parseConfig(restored);
  const run = resolveFull(stored, { folder, patch: own, configFile: config_file });
  if (!run.config.resume) return run;
  // a resume never shrinks a run: what narrows it applies only this time
  const { ids, limit, split, dataset, retry_failed } = stored;
  const rollouts = Math.max(stored.rollouts, run.config.rollouts);
  return { ...run, lasting: { ids, limit, split, dataset, retry_failed, rollouts } };
}

/** The domains and combinations that a config names, whether or not they can be run. */
export function findDomains(config: Config, locator: DatasetLocator): DomainFiles[] {
  return findDatasets(parseConfig(config), locator, () => undefined).map(({ located }) => located.files);
}

function parseConfig(config: Config): FullConfig {
  const parsed = configSchema.safeParse(config);
  if (parsed.success) return parsed.data;
  const complaints = complaintsOf(parsed.error, config, configSchema);
  throw new UsageError(complaints.map(({ message }) => `config: ${message}`).join("\n"));
}

export function resolveFull(given: FullConfig, options: ResolveOptions): ResolvedRun {
  const { patch = {}, locationOf = () => undefined, configFile } = options;
  const config = patchConfig(given, patch);
  if (config.record !== undefined && config.replay !== undefined)
    throw new UsageError("record and replay (--record, --replay) exclude each other");
  const registry = readRegistry(config, locationOf);
  const locator = options.locator ?? new DatasetLocator(config);
  const all = findDatasets(config, locator, locationOf);
  const chosen = config.dataset === undefined ? all : all.filter(({ name }) => name === config.dataset);
  if (chosen.length === 0)
    throw new UsageError(
      `There is no dataset "${config.dataset}"; there are: ${all.map(({ name }) => name).join(", ")}`,
    );
  return {
    config,
    configFile,
    folder: config.output_dir ?? config.auto_discover?.output_dir ?? options.folder,
    datasets: chosen.map((dataset) => resolveDataset(dataset, config, registry)),
    registry,
    sources: sourcesOf(config, configFile),
    notes: locator.notes(),
    judge: resolveJudge(config, locationOf),
    summary: resolveSummary(config, locationOf),
  };
}

function readRegistry({ models_config_file: file, models }: FullConfig, locationOf: LocationOf): Registry {
  if (file !== undefined && !existsSync(file))
    throw new UsageError(`There is no file ${file}`, locationOf(["models_config_file"]));
  return { ...readModelsFile(file), ...models };
}

function sourcesOf({ models_config_file, mcp_config_file, datasets }: FullConfig, configFile?: string): string[] {
  const own = Array.isArray(datasets) ? [] : Object.values(datasets ?? {});
  const servers = [mcp_config_file, ...own.map((dataset) => dataset?.mcp_config_file)];
  return [configFile, models_config_file ?? usualModelsFile(), ...servers].filter((file) => file !== undefined);
}

function resolveSummary(config: FullConfig, locationOf: LocationOf): PartyModel | undefined {
  const { summary_model: model, on_context_full: onFull } = config;
  if (model === undefined) return undefined;
  if (onFull === "summarise") return { model, settings: {} };
  throw new UsageError("summary_model needs on_context_full: summarise", locationOf(["summary_model"]));
}

function resolveJudge(config: FullConfig, locationOf: LocationOf): PartyModel | undefined {
  if (!config.enable_monitor || !config.monitor_use_llm_judge) return undefined;
  if (config.monitor_judge_model) return { model: config.monitor_judge_model, settings: { temperature: 0 } };
  throw new UsageError("monitor_use_llm_judge needs monitor_judge_model", locationOf(["monitor_use_llm_judge"]));
}
