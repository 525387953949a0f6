// The run of `rollout multi`: one set of plain questions, asked under the settings of a config file if there is one.
import { basename, extname, join } from "node:path";
import { z } from "zod";
import { didYouMean, dropUndefined, UsageError } from "../core/index.ts";
import type { ConfigPatch } from "./patch.ts";
import { type LocationOf, openYaml } from "./read-yaml.ts";
import { resolveFull } from "./resolve.ts";
import type { ResolvedRun } from "./run-spec.ts";
import { configSchema, type DatasetConfig, type FullConfig } from "./schema.ts";

export type Questions = {
  /** the file of questions, instead of the config's own dataset */
  input?: string;
  configFile?: string;
  /** where the config says nothing */
  defaults: ConfigPatch;
  patch: ConfigPatch;
};

export function resolveQuestions({ input, configFile, defaults, patch }: Questions): ResolvedRun {
  const schema = withDefaults(defaults);
  const opened = configFile === undefined ? undefined : openYaml(configFile, schema);
  const value = opened?.value ?? schema.parse({});
  const { mcp_config_file, tool_files, corpus, ...given } = patch;
  const [name, own] =
    input === undefined ? findOwn(value, patch.dataset) : [nameOf(input), replaceDatasets(value, input)];
  const tools = dropUndefined({ mcp_config_file, tool_files, corpus });
  const datasets = { [name]: { rounds: true, ...own, ...tools } };
  const locationOf: LocationOf = (path) =>
    input !== undefined && path[0] === "datasets" ? undefined : opened?.locationOf(path);
  return resolveFull(
    { ...value, ...tools, datasets, auto_discover: undefined, dataset: undefined },
    { folder: join("outputs", name), patch: given, configFile, locationOf },
  );
}

/** The config's schema with other defaults. */
function withDefaults(defaults: ConfigPatch): typeof configSchema {
  const shape: { [key: string]: z.ZodType } = configSchema.shape;
  const changed = Object.entries(defaults).map(([key, value]) => {
    const type = shape[key] as z.ZodType;
    return [key, (type instanceof z.ZodDefault ? (type.unwrap() as z.ZodType) : type).default(value)];
  });
  return configSchema.extend(Object.fromEntries(changed)) as unknown as typeof configSchema;
}

/** No tools but those that are named, for the run or for the questions, whatever their file is called. */
function replaceDatasets({ mcpServers, mcp_config_file, tool_files, corpus }: FullConfig, path: string): DatasetConfig {
  const tools = mcp_config_file === undefined ? Object.keys(mcpServers ?? {}) : [];
  const servers = mcp_config_file === undefined ? undefined : mcpServers;
  return { path, tools, ...dropUndefined({ mcpServers: servers, mcp_config_file, tool_files, corpus }) };
}

/** The one dataset that a config has, or the one that is chosen. */
function findOwn({ datasets, dataset: own }: FullConfig, chosen = own): [name: string, dataset: DatasetConfig] {
  if (!datasets || Array.isArray(datasets))
    throw new UsageError("Say which questions: --input FILE, or --config FILE with a dataset of them (path)");
  const names = Object.keys(datasets);
  const [first = "", ...others] = names;
  if (chosen === undefined && others.length > 0)
    throw new UsageError(
      `The config has several datasets (${names.join(", ")}): say which one with --dataset, or give the questions with --input`,
    );
  const name = chosen ?? first;
  if (!names.includes(name)) throw new UsageError(`There is no dataset "${name}"${didYouMean(name, names)}`);
  return [name, datasets[name] ?? {}];
}

function nameOf(file: string): string {
  return basename(file, extname(file));
}
