// From a config, or from flags, to a run: defaults filled in, domains located, prompts read, models named.
import { basename, extname, join } from "node:path";
import { type Json, type Mode, UsageError } from "../../core/index.ts";
import type { DomainFiles } from "../../domains/index.ts";
import { findEntry, type Registry, registryFileSchema } from "../../models/index.ts";
import { type DatasetSpec, DEFAULTS, type MonitorSpec, type RunSpec } from "../spec.ts";
import { type LocatedDomain, locateDataset, locateFolder, type Source } from "./locate.ts";
import { defined, resolveAgent, resolveUser } from "./parties.ts";
import { readYaml } from "./read-yaml.ts";
import { type Config, configSchema, type DatasetConfig } from "./schema.ts";

/** What the command line may say on top of a config. */
export type Overrides = {
  dataset?: string;
  outputDir?: string;
  resume?: boolean;
  seed?: number;
  limit?: number;
  ids?: string[];
  mode?: Mode;
  maxWorkers?: number;
  allowDrift?: boolean;
  retryFailed?: boolean;
  agentModel?: string;
  userModel?: string;
  bundled?: boolean;
};

export type ResolvedRun = { run: RunSpec; registry: Registry; config: Config };

export function readConfig(file: string): Config {
  return readYaml(file, configSchema);
}

export function resolveConfigFile(file: string, overrides: Overrides = {}): ResolvedRun {
  const folder = join("outputs", basename(file, extname(file)));
  return resolveConfig(readConfig(file), { folder, resumeCommand: `rollout run --config ${quote(file)}` }, overrides);
}

export function resolveConfig(
  config: Config,
  own: { folder: string; resumeCommand: string },
  overrides: Overrides = {},
): ResolvedRun {
  const registry: Registry = {
    ...(config.models_config_file ? readYaml(config.models_config_file, registryFileSchema).models : {}),
    ...config.models,
  };
  const all = datasetsOf(config, overrides);
  const { dataset: wanted } = overrides;
  const chosen = wanted === undefined ? all : all.filter(({ name }) => name === wanted);
  if (chosen.length === 0) {
    throw new UsageError(
      wanted === undefined
        ? "There are no datasets to run"
        : `There is no dataset "${wanted}"; there are: ${all.map(({ name }) => name).join(", ")}`,
    );
  }
  const datasets = chosen.map((dataset) => resolveDataset(dataset, config, registry, overrides));
  const resume = overrides.resume ?? config.resume ?? true;
  const run: RunSpec = {
    folder: overrides.outputDir ?? config.output_dir ?? config.auto_discover?.output_dir ?? own.folder,
    datasets,
    seed: overrides.seed ?? config.seed ?? DEFAULTS.seed,
    rollouts: DEFAULTS.rollouts,
    maxWorkers: overrides.maxWorkers ?? config.max_workers ?? DEFAULTS.maxWorkers,
    monitor: monitorOf(config),
    limits: defined({
      tokens: config.max_rollout_tokens,
      costUsd: config.max_rollout_cost,
      seconds: config.max_rollout_seconds,
    }),
    nameStyle: config.tool_names ?? "prefixed",
    ...defined({ limit: overrides.limit ?? config.limit, ids: overrides.ids, checkpointDir: config.checkpoint_dir }),
    resume,
    allowDrift: overrides.allowDrift ?? false,
    retryFailed: overrides.retryFailed ?? true,
    useCheckpoints: config.use_checkpoints ?? true,
    sync: config.sync ?? "batch",
    config: withoutKeys(config),
    resumeCommand: own.resumeCommand,
  };
  return { run, registry, config };
}

type NamedDataset = { name: string; config: DatasetConfig; located: LocatedDomain };

function datasetsOf(config: Config, overrides: Overrides): NamedDataset[] {
  if (config.datasets && config.auto_discover) throw new UsageError("datasets and auto_discover exclude each other");
  if (config.auto_discover) return discover(config.auto_discover);
  if (!config.datasets) throw new UsageError("The config has neither datasets nor auto_discover");
  const entries: [string, DatasetConfig | null][] = Array.isArray(config.datasets)
    ? config.datasets.map((name) => [name, null])
    : Object.entries(config.datasets);
  return entries.map(([name, value]) => {
    const dataset: DatasetConfig = value ?? {};
    const source: Source = defined({ basePath: dataset.base_path ?? config.base_path, bundled: overrides.bundled });
    const tools = dataset.tools === undefined ? undefined : [dataset.tools].flat();
    return {
      name,
      config: dataset,
      located: locateDataset(defined({ name, mcpDomain: dataset.mcp_domain, tools, path: dataset.path }), source),
    };
  });
}

/** Everything a folder holds: single domains, or with `min_domains` of two and more the combinations. */
function discover(auto: NonNullable<Config["auto_discover"]>): NamedDataset[] {
  const kinds =
    auto.min_domains === undefined
      ? (["single", "cross"] as const)
      : auto.min_domains > 1
        ? (["cross"] as const)
        : (["single", "cross"] as const);
  const party = (model: string | undefined) => (model ? { model } : undefined);
  return kinds.flatMap((kind) => {
    const { folder, bundled } = locateFolder(kind, { basePath: auto.base_path });
    return listDomains(folder.list(kind), { minDomains: auto.min_domains, requirePolicy: auto.require_policy }).map(
      (files) => ({
        name: files.name,
        config: defined({ agent: party(auto.agent_model), user: party(auto.user_model) }),
        located: { files, bundled, others: folder.list("single") },
      }),
    );
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

function resolveDataset(
  { name, config: dataset, located }: NamedDataset,
  config: Config,
  registry: Registry,
  overrides: Overrides,
): DatasetSpec {
  const { files, bundled, others } = located;
  const scripted = bundled && !dataset.path;
  const modelFor = (party: "agent" | "user") =>
    overrides[`${party}Model`] ?? config[`${party}_model`] ?? defaultModel(party, scripted, registry);
  const agentConfig = overrides.agentModel ? withModel(dataset.agent, overrides.agentModel) : dataset.agent;
  const userConfig = overrides.userModel ? withModel(dataset.user, overrides.userModel) : dataset.user;
  const has = (party: typeof dataset.user) => typeof party === "string" || party?.model !== undefined;
  const agent = resolveAgent(
    agentConfig,
    defined({
      model: has(agentConfig) ? "" : modelFor("agent"),
      temperature: config.agent_temperature,
      thinking: config.enable_thinking,
    }),
  );
  const maxTurns = dataset.max_turns ?? config.max_turns ?? DEFAULTS.maxTurns;
  const userModel = has(userConfig) || maxTurns === 1 ? "" : modelFor("user");
  const user = resolveUser(userConfig, defined({ model: userModel, temperature: config.user_temperature }));
  return {
    name,
    domain: files,
    queryFiles: dataset.path ? [dataset.path] : files.queryFiles,
    ...defined({ output: dataset.output_path }),
    agent,
    user,
    maxTurns,
    maxStepsPerTurn: dataset.max_steps_per_turn ?? config.max_steps_per_turn ?? DEFAULTS.maxStepsPerTurn,
    mode: overrides.mode ?? dataset.mode ?? config.mode ?? "positive",
    otherDomains: others,
  };
}

function withModel<T extends DatasetConfig["user"]>(party: T, model: string): T {
  return (typeof party === "object" ? { ...party, model } : { model }) as T;
}

const USUAL_MODELS = { agent: "openai/deepseek-v3.2-fc", user: "openai/gpt-5" };

/** Scripted for bundled domains; for a user's own data the usual names, if the registry holds them. */
function defaultModel(party: "agent" | "user", scripted: boolean, registry: Registry): string {
  if (scripted) return `scripted/${party}`;
  const usual = USUAL_MODELS[party];
  if (findEntry(usual, registry)) return usual;
  throw new UsageError(
    `No model is named for the ${party}. Give --${party}-model (or ${party}.model in the config), or register ${usual.slice(usual.indexOf("/") + 1)} in a models.yml (--models-config, models_config_file)`,
  );
}

function monitorOf(config: Config): MonitorSpec {
  if (config.enable_monitor === false) return {};
  if (config.monitor_use_llm_judge && !config.monitor_judge_model) {
    throw new UsageError("monitor_use_llm_judge needs monitor_judge_model");
  }
  return defined({
    maxNoToolTurns: config.monitor_max_no_tool_turns ?? DEFAULTS.maxNoToolTurns,
    maxRepeatedCalls: config.monitor_max_repeated_calls ?? DEFAULTS.maxRepeatedCalls,
    maxToolErrors: config.monitor_max_tool_errors,
    completionPhrases: config.monitor_rule_detection || undefined,
    judge:
      config.monitor_use_llm_judge && config.monitor_judge_model
        ? { model: config.monitor_judge_model, settings: { temperature: 0 } }
        : undefined,
  });
}

/** Keys as a name, or as "<literal>": the config goes into the manifest. */
function withoutKeys(value: unknown): Json {
  return JSON.parse(
    JSON.stringify(value, (key, member) => {
      if (!/key|token$|secret|password|authorization/i.test(key) || typeof member !== "string") return member;
      const reference = /^\$\{(\w+)/.exec(member);
      return reference ? reference[1] : "<literal>";
    }),
  );
}

function quote(text: string): string {
  return /^[\w./:@%+=-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
