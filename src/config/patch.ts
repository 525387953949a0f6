// Flags as a patch of the config: the command line wins over the file, including over a dataset's own settings.
import { dropUndefined } from "../core/index.ts";
import type { Config, DatasetConfig, FullConfig } from "./schema.ts";

export type ConfigPatch = Partial<FullConfig>;

type CamelCase<Key extends string> = Key extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail>>}`
  : Key;

/** A patch as programs write it: `maxWorkers` for `max_workers`. */
export type ProgramPatch = { [Key in keyof FullConfig as CamelCase<Key>]?: FullConfig[Key] };

export function fromProgram(patch: ProgramPatch): ConfigPatch {
  const toKey = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return Object.fromEntries(Object.entries(patch).map(([name, value]) => [toKey(name), value]));
}

export function patchConfig(config: FullConfig, patch: ConfigPatch): FullConfig {
  const given = dropUndefined(patch);
  // `--eval` switches on what a config's mapping describes
  if (given.eval === true && typeof config.eval === "object") given.eval = config.eval;
  const merged = withJudge({ ...config, ...given });
  // of two that exclude each other, the one that is given counts
  if (given.replay !== undefined && given.record === undefined) merged.record = undefined;
  if (given.record !== undefined && given.replay === undefined) merged.replay = undefined;
  if (given.datasets && !given.auto_discover) merged.auto_discover = undefined;
  if (given.auto_discover && !given.datasets) merged.datasets = undefined;
  return {
    ...merged,
    datasets: given.datasets ?? withoutOwn(merged.datasets, given),
    auto_discover: merged.auto_discover && omit(merged.auto_discover, Object.keys(given)),
  };
}

/** `judge_model` is the judge of `eval`, which it switches on. */
function withJudge(config: FullConfig): FullConfig {
  const { judge_model, eval: settings } = config;
  if (judge_model === undefined) return config;
  return { ...config, eval: { ...(typeof settings === "object" && settings), judge_model } };
}

/** The datasets without the settings that the patch replaces. */
function withoutOwn(datasets: Config["datasets"], patch: ConfigPatch): Config["datasets"] {
  if (!datasets || Array.isArray(datasets)) return datasets;
  const entries = Object.entries(datasets).map(([name, dataset]) => {
    if (!dataset) return [name, dataset];
    const own: DatasetConfig = omit(
      dataset,
      Object.keys(patch).filter((key) => key in dataset && key !== "mcpServers"),
    );
    // next to a domain the run's own would not count
    for (const key of ["tool_files", "corpus"] as const)
      if (key in dataset && patch[key] !== undefined) Object.assign(own, { [key]: patch[key] });
    for (const party of ["agent", "user"] as const) {
      const keys = Object.entries(PARTY_KEYS[party]).flatMap(([key, run]) => (patch[run] === undefined ? [] : [key]));
      if (keys.length > 0) own[party] = withoutPartyKeys(own[party], keys);
    }
    // where a dataset says that it has no domain, the run's own would not count
    const { mcp_config_file } = patch;
    if (dataset.mcp_config_file && mcp_config_file) own.mcp_config_file = mcp_config_file;
    return [name, own];
  });
  return Object.fromEntries(entries);
}

/** A party's keys, and the run's key that sets the same for all datasets; there are some for the agent only. */
const PARTY_KEYS = {
  agent: {
    model: "agent_model",
    temperature: "agent_temperature",
    enable_thinking: "enable_thinking",
    top_p: "top_p",
    tool_format: "tool_format",
    system_prompt_file: "system_prompt_file",
  },
  user: { model: "user_model", temperature: "user_temperature" },
} as const satisfies { [party: string]: { [key: string]: keyof FullConfig } };

/** Keys that say the same in another way. */
const TWINS: { [key: string]: string } = { enable_thinking: "thinking", system_prompt_file: "system_prompt" };

function withoutPartyKeys<P extends DatasetConfig["user"]>(party: P, keys: readonly string[]): P | undefined {
  if (typeof party === "string") return keys.includes("model") ? undefined : party;
  if (!party) return party;
  return omit(party, [...keys, ...keys.flatMap((key) => TWINS[key] ?? [])]) as P;
}

function omit<T extends object>(object: T, keys: readonly string[]): T {
  return Object.fromEntries(Object.entries(object).filter(([key]) => !keys.includes(key))) as T;
}
