// From a config, or from flags, to a run: defaults filled in, domains located, prompts read, models named.
import { existsSync } from "node:fs";
import { basename, extname, join } from "node:path";
import { type Json, type Mode, UsageError } from "../../core/index.ts";
import { type Registry, registryFileSchema } from "../../models/index.ts";
import { DEFAULTS, type MonitorSpec, type RunSpec } from "../spec.ts";
import { datasetsOf, type PlaceOf, resolveDataset } from "./datasets.ts";
import { defined } from "./parties.ts";
import { openYaml, readYaml } from "./read-yaml.ts";
import { type Config, configSchema } from "./schema.ts";

/** What the command line may say on top of a config. */
export type Overrides = {
  dataset?: string;
  outputDir?: string;
  resume?: boolean;
  seed?: number;
  limit?: number;
  rollouts?: number;
  eval?: boolean;
  ids?: string[];
  mode?: Mode;
  maxWorkers?: number;
  allowDrift?: boolean;
  retryFailed?: boolean;
  agentModel?: string;
  userModel?: string;
  bundled?: boolean;
  maxCost?: number;
  maxTokensTotal?: number;
  python?: string;
};

export type ResolvedRun = { run: RunSpec; registry: Registry; config: Config };

export function readConfig(file: string): Config {
  return readYaml(file, configSchema);
}

export function resolveConfigFile(
  file: string,
  overrides: Overrides = {},
  resumeCommand = `rollout run --config ${quote(file)}`,
): ResolvedRun {
  const folder = join("outputs", basename(file, extname(file)));
  const { value: config, placeOf } = openYaml(file, configSchema);
  return resolveConfig(config, { folder, resumeCommand, placeOf }, overrides);
}

/** What a run gets from where its config comes from. */
export type ConfigOrigin = { folder: string; resumeCommand: string; placeOf?: PlaceOf };

export function resolveConfig(config: Config, origin: ConfigOrigin, overrides: Overrides = {}): ResolvedRun {
  const { placeOf = () => undefined } = origin;
  const registry = registryOf(config, placeOf);
  const all = datasetsOf(config, overrides, placeOf);
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
    folder: overrides.outputDir ?? config.output_dir ?? config.auto_discover?.output_dir ?? origin.folder,
    datasets,
    seed: overrides.seed ?? config.seed ?? DEFAULTS.seed,
    rollouts: overrides.rollouts ?? config.rollouts ?? DEFAULTS.rollouts,
    maxWorkers: overrides.maxWorkers ?? config.max_workers ?? DEFAULTS.maxWorkers,
    monitor: monitorOf(config, placeOf),
    limits: defined({
      tokens: config.max_rollout_tokens,
      costUsd: config.max_rollout_cost,
      seconds: config.max_rollout_seconds,
    }),
    budget: defined({
      costUsd: overrides.maxCost ?? config.max_cost,
      tokens: overrides.maxTokensTotal ?? config.max_tokens_total,
    }),
    nameStyle: config.tool_names ?? "prefixed",
    ...defined({
      limit: overrides.limit ?? config.limit,
      ids: overrides.ids,
      checkpointDir: config.checkpoint_dir,
      python: overrides.python ?? config.python,
      evaluation: evaluationOf(config, overrides),
    }),
    resume,
    allowDrift: overrides.allowDrift ?? false,
    retryFailed: overrides.retryFailed ?? true,
    useCheckpoints: config.use_checkpoints ?? true,
    sync: config.sync ?? "batch",
    config: withoutKeys(config),
    // a config that says `resume: false` starts beside each time it is run, unless it is told otherwise
    resumeCommand: resume || config.resume !== false ? origin.resumeCommand : `${origin.resumeCommand} --resume`,
  };
  return { run, registry, config };
}

function registryOf({ models_config_file: file, models }: Config, placeOf: PlaceOf): Registry {
  if (file === undefined) return { ...models };
  if (!existsSync(file)) throw new UsageError(`There is no file ${file}`, placeOf(["models_config_file"]));
  return { ...readYaml(file, registryFileSchema).models, ...models };
}

function evaluationOf(config: Config, overrides: Overrides): RunSpec["evaluation"] {
  if (!(overrides.eval ?? config.eval)) return undefined;
  return typeof config.eval === "object" ? config.eval : {};
}

function monitorOf(config: Config, placeOf: PlaceOf): MonitorSpec {
  if (config.enable_monitor === false) return {};
  if (config.monitor_use_llm_judge && !config.monitor_judge_model) {
    throw new UsageError("monitor_use_llm_judge needs monitor_judge_model", placeOf(["monitor_use_llm_judge"]));
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
  const hidden = (text: string) => /^\$\{(\w+)/.exec(text)?.[1] ?? "<literal>";
  const hide = (key: string, member: unknown): unknown => {
    if (typeof member === "string")
      return SECRET_KEY.test(key) ? hidden(member) : member.replace(URL_LOGIN, "$1<literal>@");
    const isSecretive = (key === "env" || key === "headers") && typeof member === "object" && member !== null;
    if (!isSecretive) return member;
    return Object.fromEntries(Object.entries(member).map(([name, text]) => [name, hidden(String(text))]));
  };
  return JSON.parse(JSON.stringify(value, hide));
}

/** A name and password in a URL. */
const URL_LOGIN = /(\w:\/\/)[^/@\s]+@/g;
const SECRET_KEY = /key|token$|secret|password|authorization/i;

/** A word as a shell takes it. */
export function quote(text: string): string {
  return /^[\w./:@%+=,-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
