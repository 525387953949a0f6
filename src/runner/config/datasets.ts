// The datasets of a config: which domain or servers each one means, and which models play it.
import { existsSync } from "node:fs";
import { basename } from "node:path";
import { z } from "zod";
import { type Place, UsageError } from "../../core/index.ts";
import type { DomainFiles } from "../../domains/index.ts";
import { findEntry, type Registry } from "../../models/index.ts";
import { type McpServersConfig, mcpServersSchema } from "../../tools/index.ts";
import { type DatasetSpec, DEFAULTS } from "../spec.ts";
import { type LocatedDomain, locateDataset, locateFolders, type Source } from "./locate.ts";
import { defined, resolveAgent, resolveUser } from "./parties.ts";
import { type Path, readYaml } from "./read-yaml.ts";
import type { Overrides } from "./resolve.ts";
import type { Config, DatasetConfig } from "./schema.ts";

export type NamedDataset = {
  name: string;
  config: DatasetConfig;
  located: LocatedDomain;
  mcpServers?: McpServersConfig;
  /** where the config says something about this dataset, if there is a file */
  placeOf(key?: string): Place | undefined;
};

/** Where a path of the config stands, if it was read from a file. */
export type PlaceOf = (path: Path) => Place | undefined;

/** A mistake that knows no place of its own gets this one. */
export function placed<T>(place: Place | undefined, action: () => T): T {
  try {
    return action();
  } catch (error) {
    if (!place || !(error instanceof UsageError) || error.place) throw error;
    throw new UsageError(error.message, place);
  }
}

export function datasetsOf(config: Config, overrides: Overrides, placeOf: PlaceOf): NamedDataset[] {
  if (config.datasets && config.auto_discover)
    throw new UsageError("datasets and auto_discover exclude each other", placeOf(["auto_discover"]));
  const auto = config.auto_discover;
  if (auto) return placed(placeOf(["auto_discover", "base_path"]), () => discover(auto));
  if (!config.datasets) throw new UsageError("The config has neither datasets nor auto_discover", placeOf([]));
  const entries: [string, DatasetConfig | null][] = Array.isArray(config.datasets)
    ? config.datasets.map((name) => [name, null])
    : Object.entries(config.datasets);
  const shared = mcpServersOf(config);
  return entries.map(([name, value], index) => {
    const dataset: DatasetConfig = value ?? {};
    const base = ["datasets", Array.isArray(config.datasets) ? index : name];
    const place = (key?: string) => placeOf(key === undefined ? base : [...base, key]);
    return placed(place(locatingKey(dataset)), () => ({ ...nameDataset(name, dataset), placeOf: place }));
  });

  function nameDataset(name: string, dataset: DatasetConfig): Omit<NamedDataset, "placeOf"> {
    const own = mcpServersOf(dataset);
    if (own) return mcpDataset(name, dataset, own);
    const source: Source = defined({
      basePath: dataset.base_path ?? config.base_path,
      bundled: overrides.bundled,
      queryDir: config.query_dir,
      policyDir: config.policy_dir,
    });
    const tools = dataset.tools === undefined ? undefined : [dataset.tools].flat();
    // beside mcpServers a query file's name says nothing about the tools
    const path = shared ? undefined : dataset.path;
    const names = defined({ name, mcpDomain: dataset.mcp_domain, tools, path });
    try {
      return { name, config: dataset, located: locateDataset(names, source) };
    } catch (error) {
      if (!shared || dataset.mcp_domain || dataset.base_path || !(error instanceof UsageError)) throw error;
      return mcpDataset(name, dataset, tools ? chosenServers(name, shared, tools) : shared);
    }
  }
}

/** The key that decides which domain a dataset means. */
function locatingKey(dataset: DatasetConfig): string | undefined {
  return (["mcp_domain", "tools"] as const).find((key) => dataset[key] !== undefined);
}

const mcpFileSchema = z.looseObject({ mcpServers: mcpServersSchema });

function mcpServersOf(holder: Pick<DatasetConfig, "mcpServers" | "mcp_config_file">): McpServersConfig | undefined {
  if (!holder.mcp_config_file) return holder.mcpServers;
  return { ...readYaml(holder.mcp_config_file, mcpFileSchema).mcpServers, ...holder.mcpServers };
}

function chosenServers(name: string, servers: McpServersConfig, tools: string[]): McpServersConfig {
  const missing = tools.find((tool) => !servers[tool]);
  if (missing)
    throw new UsageError(
      `Dataset "${name}": "${missing}" is neither a domain nor one of mcpServers (${Object.keys(servers).join(", ")})`,
    );
  return Object.fromEntries(tools.map((tool) => [tool, servers[tool] as McpServersConfig[string]]));
}

/** Servers bring tools only: the queries come from `path`. */
function mcpDataset(name: string, config: DatasetConfig, mcpServers: McpServersConfig): Omit<NamedDataset, "placeOf"> {
  if (!config.path) throw new UsageError(`Dataset "${name}" uses mcpServers, so it needs a query file: path`);
  const files: DomainFiles = {
    name,
    servers: Object.keys(mcpServers),
    queryFiles: [config.path],
    policyFile: undefined,
    toolListFiles: {},
    serverFiles: {},
    tableFolders: [],
    databaseName: name,
    missing: [],
  };
  return { name, config, located: { files, bundled: false, others: [] }, mcpServers };
}

/** Everything a folder holds; with `min_domains` of two and more, the combinations only. */
function discover(auto: NonNullable<Config["auto_discover"]>): NamedDataset[] {
  const kinds = (auto.min_domains ?? 1) > 1 ? (["cross"] as const) : (["single", "cross"] as const);
  const party = (model: string | undefined) => (model ? { model } : undefined);
  return locateFolders(kinds, { basePath: auto.base_path }).flatMap(({ kind, folder, bundled }) => {
    const domains = listDomains(folder.list(kind), {
      minDomains: auto.min_domains,
      requirePolicy: auto.require_policy,
    });
    return domains.map((files) => ({
      name: files.name,
      config: defined({ agent: party(auto.agent_model), user: party(auto.user_model) }),
      located: { files, bundled, others: folder.list("single") },
      placeOf: () => undefined,
    }));
  });
}

export type ListOptions = { minDomains?: number | undefined; requirePolicy?: boolean | undefined };

/** Those that can be run: with queries, and with a policy where one is required. */
export function listDomains(
  domains: DomainFiles[],
  { minDomains = 1, requirePolicy = false }: ListOptions,
): DomainFiles[] {
  return domains.filter(
    (files) =>
      files.queryFiles.length > 0 &&
      files.servers.length >= minDomains &&
      (files.policyFile !== undefined || !requirePolicy),
  );
}

export function resolveDataset(
  dataset: NamedDataset,
  config: Config,
  registry: Registry,
  overrides: Overrides,
): DatasetSpec {
  const { name, config: own, located, mcpServers, placeOf } = dataset;
  if (own.path && !existsSync(own.path)) throw new UsageError(`There is no query file ${own.path}`, placeOf("path"));
  const scripted = located.bundled && !own.path;
  const modelOf = (party: "agent" | "user") => {
    const named = typeof own[party] === "string" ? own[party] : own[party]?.model;
    return overrides[`${party}Model`] ?? named ?? config[`${party}_model`] ?? defaultModel(party, scripted, registry);
  };
  const maxTurns = own.max_turns ?? config.max_turns ?? DEFAULTS.maxTurns;
  const temperatures = { agent: config.agent_temperature, user: config.user_temperature };
  const agent = placed(placeOf("agent"), () => {
    const model = modelOf("agent");
    return resolveAgent(
      own.agent,
      defined({ model, temperature: temperatures.agent, thinking: config.enable_thinking }),
    );
  });
  const user = placed(placeOf("user"), () => {
    const model = maxTurns === 1 ? "" : modelOf("user");
    return resolveUser(own.user, defined({ model, temperature: temperatures.user }));
  });
  return {
    name,
    domain: located.files,
    queryFiles: own.path ? [own.path] : located.files.queryFiles,
    ...defined({ output: own.output_path, mcpServers, faults: own.faults ?? config.faults }),
    agent,
    user,
    maxTurns,
    maxStepsPerTurn: own.max_steps_per_turn ?? config.max_steps_per_turn ?? DEFAULTS.maxStepsPerTurn,
    mode: overrides.mode ?? own.mode ?? config.mode ?? "positive",
    otherDomains: located.others,
  };
}

const USUAL_MODELS = { agent: "openai/deepseek-v3.2-fc", user: "openai/gpt-5" };

/** Scripted for bundled domains; for a user's own data the usual names, if the registry holds them. */
function defaultModel(party: "agent" | "user", scripted: boolean, registry: Registry): string {
  if (scripted) return `scripted/${party}`;
  const usual = USUAL_MODELS[party];
  if (findEntry(usual, registry)) return usual;
  throw new UsageError(
    `No model is named for the ${party}. Give --${party}-model (or ${party}.model in the config), or register ${basename(usual)} in a models.yml (--models-config, models_config_file)`,
  );
}
