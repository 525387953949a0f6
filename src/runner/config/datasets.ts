// The datasets of a config: which domain or servers each one means, and which models play it.
import { basename } from "node:path";
import { z } from "zod";
import { UsageError } from "../../core/index.ts";
import type { DomainFiles } from "../../domains/index.ts";
import { findEntry, type Registry } from "../../models/index.ts";
import { type McpServersConfig, mcpServersSchema } from "../../tools/index.ts";
import { type DatasetSpec, DEFAULTS } from "../spec.ts";
import { type LocatedDomain, locateDataset, locateFolder, type Source } from "./locate.ts";
import { defined, resolveAgent, resolveUser } from "./parties.ts";
import { readYaml } from "./read-yaml.ts";
import type { Overrides } from "./resolve.ts";
import type { Config, DatasetConfig } from "./schema.ts";

export type NamedDataset = {
  name: string;
  config: DatasetConfig;
  located: LocatedDomain;
  mcpServers?: McpServersConfig;
};

export function datasetsOf(config: Config, overrides: Overrides): NamedDataset[] {
  if (config.datasets && config.auto_discover) throw new UsageError("datasets and auto_discover exclude each other");
  if (config.auto_discover) return discover(config.auto_discover);
  if (!config.datasets) throw new UsageError("The config has neither datasets nor auto_discover");
  const entries: [string, DatasetConfig | null][] = Array.isArray(config.datasets)
    ? config.datasets.map((name) => [name, null])
    : Object.entries(config.datasets);
  const shared = mcpServersOf(config);
  return entries.map(([name, value]) => {
    const dataset: DatasetConfig = value ?? {};
    const own = mcpServersOf(dataset);
    if (own) return mcpDataset(name, dataset, own);
    const source: Source = defined({ basePath: dataset.base_path ?? config.base_path, bundled: overrides.bundled });
    const tools = dataset.tools === undefined ? undefined : [dataset.tools].flat();
    const names = defined({ name, mcpDomain: dataset.mcp_domain, tools, path: dataset.path });
    try {
      return { name, config: dataset, located: locateDataset(names, source) };
    } catch (error) {
      if (!shared || dataset.mcp_domain || dataset.base_path || !(error instanceof UsageError)) throw error;
      return mcpDataset(name, dataset, tools ? chosenServers(name, shared, tools) : shared);
    }
  });
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
function mcpDataset(name: string, config: DatasetConfig, mcpServers: McpServersConfig): NamedDataset {
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
  return kinds.flatMap((kind) => {
    const { folder, bundled } = locateFolder(kind, { basePath: auto.base_path });
    const domains = listDomains(folder.list(kind), {
      minDomains: auto.min_domains,
      requirePolicy: auto.require_policy,
    });
    return domains.map((files) => ({
      name: files.name,
      config: defined({ agent: party(auto.agent_model), user: party(auto.user_model) }),
      located: { files, bundled, others: folder.list("single") },
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
  const { name, config: own, located, mcpServers } = dataset;
  const scripted = located.bundled && !own.path;
  const modelOf = (party: "agent" | "user") => {
    const named = typeof own[party] === "string" ? own[party] : own[party]?.model;
    return overrides[`${party}Model`] ?? named ?? config[`${party}_model`] ?? defaultModel(party, scripted, registry);
  };
  const maxTurns = own.max_turns ?? config.max_turns ?? DEFAULTS.maxTurns;
  const temperatures = { agent: config.agent_temperature, user: config.user_temperature };
  const agent = resolveAgent(
    own.agent,
    defined({ model: modelOf("agent"), temperature: temperatures.agent, thinking: config.enable_thinking }),
  );
  const user = resolveUser(
    own.user,
    defined({ model: maxTurns === 1 ? "" : modelOf("user"), temperature: temperatures.user }),
  );
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
