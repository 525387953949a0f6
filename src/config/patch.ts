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
  const merged = { ...config, ...given };
  if (given.datasets && !given.auto_discover) merged.auto_discover = undefined;
  if (given.auto_discover && !given.datasets) merged.datasets = undefined;
  return {
    ...merged,
    datasets: given.datasets ?? withoutOwn(merged.datasets, given),
    auto_discover: merged.auto_discover && omit(merged.auto_discover, Object.keys(given)),
  };
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
    for (const party of ["agent", "user"] as const) {
      const keys = PARTY_KEYS.filter((key) => patch[partyKey(party, key)] !== undefined);
      if (keys.length > 0) own[party] = withoutPartyKeys(own[party], keys);
    }
    return [name, own];
  });
  return Object.fromEntries(entries);
}

const PARTY_KEYS = ["model", "temperature", "enable_thinking"] as const;
type PartyKey = (typeof PARTY_KEYS)[number];

/** The run's key that sets the same for all datasets. */
function partyKey(party: "agent" | "user", key: PartyKey): keyof FullConfig {
  if (key === "enable_thinking") return party === "agent" ? "enable_thinking" : "$schema";
  return `${party}_${key}`;
}

function withoutPartyKeys<P extends DatasetConfig["user"]>(party: P, keys: readonly PartyKey[]): P | undefined {
  if (typeof party === "string") return keys.includes("model") ? undefined : party;
  if (!party) return party;
  return omit(party, keys.includes("enable_thinking") ? [...keys, "thinking"] : keys) as P;
}

function omit<T extends object>(object: T, keys: readonly string[]): T {
  return Object.fromEntries(Object.entries(object).filter(([key]) => !keys.includes(key))) as T;
}
