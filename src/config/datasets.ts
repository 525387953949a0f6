// The datasets of a config: which domain or servers each one means, and which models play it.
import { existsSync } from "node:fs";
import { basename } from "node:path";
import { atLocation, didYouMean, dropUndefined, type Location, UsageError } from "../core/index.ts";
import { STOP_CONDITIONS } from "../dialogue/index.ts";
import { type DatasetKind, type DomainFiles, listOwnServers, type OwnTools, parseNames } from "../domains/index.ts";
import { findEntry, type Registry } from "../models/index.ts";
import type { DatasetLocator, LocatedDomain } from "./locate.ts";
import { resolveAgent, resolveUser } from "./parties.ts";
import type { LocationOf } from "./read-yaml.ts";
import type { DatasetSpec } from "./run-spec.ts";
import type { DatasetConfig, FullConfig } from "./schema.ts";
import {
  type FoundServers,
  hasTools,
  isBundled,
  isSearching,
  ownToolsOf,
  pickServers,
  readSources,
  requireSpelling,
  type Sources,
} from "./tool-sources.ts";

export type NamedDataset = {
  name: string;
  config: DatasetConfig;
  located: LocatedDomain;
  mcp?: FoundServers;
  ownTools?: OwnTools;
  /** where the config says something about this dataset, if there is a file */
  locationOf(key?: string): Location | undefined;
};

type Found = Pick<NamedDataset, "located" | "mcp" | "ownTools">;

export function findDatasets(config: FullConfig, locator: DatasetLocator, locationOf: LocationOf): NamedDataset[] {
  const { datasets, auto_discover: auto } = config;
  if (datasets && auto)
    throw new UsageError("datasets and auto_discover exclude each other", locationOf(["auto_discover"]));
  if (auto) return atLocation(locationOf(["auto_discover", "base_path"]), () => discover(auto, locator));
  if (!datasets) throw new UsageError("The config has neither datasets nor auto_discover", locationOf([]));
  const entries: [string, DatasetConfig | null][] = Array.isArray(datasets)
    ? datasets.map((name) => [name, null])
    : Object.entries(datasets);
  const shared = readSources(config, locationOf);
  return entries.map(([name, value], index) => {
    const dataset: DatasetConfig = value ?? {};
    const path = ["datasets", Array.isArray(datasets) ? index : name];
    const locate = (key?: string) => locationOf(key === undefined ? path : [...path, key]);
    const found = atLocation(locate(findNamingKey(dataset)), () => {
      const own = readSources(dataset, (inner) => locationOf([...path, ...inner]));
      return findDataset({ name, config: dataset, own, shared, locator });
    });
    return { name, config: dataset, ...found, locationOf: locate };
  });
}

type Asked = { name: string; config: DatasetConfig; own: Sources; shared: Sources; locator: DatasetLocator };

function findDataset({ name, config, own, shared, locator }: Asked): Found {
  const tools = config.tools === undefined ? undefined : [config.tools].flat();
  const isServer = (tool: string) => (own.mcp ?? shared.mcp)?.servers[tool] !== undefined;
  const bundled = (tools ?? []).filter((tool) => isBundled(tool) && !isServer(tool));
  const others = tools?.filter((tool) => !bundled.includes(tool));
  const locations = { ...shared.locations, ...own.locations };
  const corpus = own.corpus ?? (bundled.some(isSearching) ? shared.corpus : undefined);
  const sources = { ...own, corpus, locations };
  if (own.mcp) return withTools({ name, config, mcp: own.mcp, sources, bundled });
  if (others?.length === 0) return withTools({ name, config, sources, bundled });
  const isAsked = hasTools(own) || hasTools(shared);
  // next to other tools a query file's name says nothing about a domain
  const path = isAsked ? undefined : config.path;
  try {
    const names = { name, mcpDomain: config.mcp_domain, tools: others, path };
    const located = locator.findDataset(names, config.base_path);
    return { located, ownTools: ownToolsOf(name, sources, bundled, true) };
  } catch (error) {
    if (error instanceof UsageError && others) requireSpelling(name, others);
    if (!isAsked || config.mcp_domain || config.base_path || !(error instanceof UsageError)) throw error;
    if (!others)
      return withTools({ name, config, mcp: shared.mcp, sources: { ...shared, ...own, locations }, bundled });
    if (!shared.mcp) throw error;
    return withTools({ name, config, mcp: pickServers(name, shared.mcp, others), sources, bundled });
  }
}

/** The key that decides which domain a dataset means. */
function findNamingKey(dataset: DatasetConfig): string | undefined {
  return (["mcp_domain", "tools"] as const).find((key) => dataset[key] !== undefined);
}

type WithTools = {
  name: string;
  config: DatasetConfig;
  mcp?: FoundServers | undefined;
  sources: Omit<Sources, "mcp">;
  bundled: string[];
};

function withTools({ name, config, mcp, sources, bundled }: WithTools): Found {
  const ownTools = ownToolsOf(name, sources, bundled, false);
  const servers = [...Object.keys(mcp?.servers ?? {}), ...(ownTools ? listOwnServers(ownTools) : [])];
  return { located: withoutDomain(name, config, servers), mcp, ownTools };
}

/** Servers only provide tools, and questions need none: the queries come from `path`. */
function withoutDomain(name: string, { path }: DatasetConfig, servers: string[]): LocatedDomain {
  if (!path) throw new UsageError(`Dataset "${name}" has no domain of its own, so it needs a query file: path`);
  const files: DomainFiles = {
    name,
    servers,
    queryFiles: [path],
    policyFile: undefined,
    toolListFiles: {},
    serverFiles: {},
    tableFolders: [],
    databaseName: name,
    missing: [],
  };
  return { files, bundled: false, others: [] };
}

/** Everything a folder holds; if `min_domains` is two or more, only the combinations. */
function discover(auto: NonNullable<FullConfig["auto_discover"]>, locator: DatasetLocator): NamedDataset[] {
  const both = (auto.min_domains ?? 1) > 1 ? (["cross"] as const) : (["single", "cross"] as const);
  const kinds: readonly DatasetKind[] = auto.kind ? [auto.kind] : both;
  const { agent_model, user_model, agent_temperature, user_temperature, enable_thinking } = auto;
  const { max_turns, max_steps_per_turn, mode } = auto;
  const agent = dropUndefined({ model: agent_model, temperature: agent_temperature, enable_thinking });
  const user = dropUndefined({ model: user_model, temperature: user_temperature });
  const config: DatasetConfig = { ...dropUndefined({ max_turns, max_steps_per_turn, mode }), agent, user };
  const folders = locator.folders(kinds, auto.base_path);
  const known = new Set(folders.flatMap(({ folder }) => folder.serverNames()));
  const [only, never] = [findNamed(auto.filter_domains, known), findNamed(auto.exclude_domains, known)];
  const found = folders.flatMap((opened) => {
    const domains = chooseRunnable(opened.folder.list(opened.kind), auto).filter(
      ({ servers }) => (!only || servers.some((name) => only.has(name))) && !servers.some((name) => never?.has(name)),
    );
    return domains.map((files) => ({
      name: files.name,
      config,
      located: locator.located(files, opened),
      locationOf: () => undefined,
    }));
  });
  if (found.length > 0) return found;
  throw new UsageError(`There are no ${auto.kind === "cross" ? "combinations" : "domains"} with queries here`);
}

function findNamed(names: string[] | undefined, known: Set<string>): Set<string> | undefined {
  if (!names) return undefined;
  return new Set(
    names.flatMap((name) => {
      const servers = parseNames(name, known);
      if (servers) return servers;
      const hint = didYouMean(name, known) || ".";
      throw new UsageError(`There is no domain "${name}"${hint} There are: ${[...known].join(", ")}`);
    }),
  );
}

/** Those that can be run: with queries, and with a policy if one is required. */
export function chooseRunnable(
  domains: DomainFiles[],
  { min_domains = 1, require_policy = false }: { min_domains?: number; require_policy?: boolean },
): DomainFiles[] {
  return domains.filter(
    (files) =>
      files.queryFiles.length > 0 &&
      files.servers.length >= min_domains &&
      (files.policyFile !== undefined || !require_policy),
  );
}

export function resolveDataset(dataset: NamedDataset, config: FullConfig, registry: Registry): DatasetSpec {
  const { name, config: own, located, mcp, ownTools, locationOf } = dataset;
  if (own.path && !existsSync(own.path)) throw new UsageError(`There is no query file ${own.path}`, locationOf("path"));
  const maxTurns = own.max_turns ?? config.max_turns;
  const modelOf = (party: "agent" | "user") => {
    const named = typeof own[party] === "string" ? own[party] : own[party]?.model;
    return named ?? config[`${party}_model`] ?? defaultModel(party, located.bundled && !own.path, registry);
  };
  const agent = atLocation(locationOf("agent"), () => {
    const defaults = {
      temperature: config.agent_temperature,
      topP: config.top_p,
      thinking: config.enable_thinking,
      toolFormat: config.tool_format,
      systemPromptFile: config.system_prompt_file,
    };
    return resolveAgent(own.agent, { model: modelOf("agent"), ...defaults, location: locationOf("agent") });
  });
  const user = atLocation(locationOf("user"), () => {
    const model = maxTurns === 1 ? "" : modelOf("user");
    return resolveUser(own.user, { model, temperature: config.user_temperature, location: locationOf("user") });
  });
  return {
    name,
    domain: located.files,
    queryFiles: own.path ? [own.path] : located.files.queryFiles,
    output: own.output_path,
    rounds: own.rounds ?? false,
    agent,
    user,
    maxTurns,
    stops: stopValues(config, maxTurns),
    maxStepsPerTurn: own.max_steps_per_turn ?? config.max_steps_per_turn,
    context: { limit: config.context_limit, onFull: config.on_context_full },
    mode: own.mode ?? config.mode,
    answerFormat: own.answer_format ?? config.answer_format,
    mcpServers: mcp?.servers,
    ownTools,
    mcpLocations: mcp?.locations,
    defaults: dropUndefined({
      setup: own.setup?.map(({ name, arguments: args = {} }) => ({ name, arguments: args })),
      userTools: own.user_tools,
    }),
    faults: own.faults ?? config.faults,
    isolation: own.isolation ?? config.isolation,
    otherDomains: located.others,
  };
}

function stopValues(config: FullConfig, max_turns: number): { [key: string]: unknown } {
  const values: { [key: string]: unknown } = { ...config, max_turns };
  const active = STOP_CONDITIONS.filter(({ key }) => config.enable_monitor || !key.startsWith("monitor_"));
  return Object.fromEntries(active.map(({ key }) => [key, values[key]]));
}

const USUAL_MODELS = { agent: "openai/deepseek-v3.2-fc", user: "openai/gpt-5" };

/** Scripted for bundled domains; for a user's own data the usual names, if they are in the registry. */
function defaultModel(party: "agent" | "user", scripted: boolean, registry: Registry): string {
  if (scripted) return `scripted/${party}`;
  const usual = USUAL_MODELS[party];
  if (findEntry(usual, registry)) return usual;
  throw new UsageError(
    `No model is named for the ${party}. Give --${party}-model (or ${party}.model in the config), or register ${basename(usual)} in a models.yml (--models-config, models_config_file)`,
  );
}
