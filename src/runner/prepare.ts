// A dataset made ready: its domain loaded, its queries indexed, its models found, its prompts kept. Every mistake that a
// user can make shows here, before anything is written.
import { contentHash, type Environment, type Query, type ToolSpec, UsageError } from "../core/index.ts";
import {
  agentSystemPrompt,
  completionPhrases,
  costBudget,
  maxNoToolTurns,
  maxToolErrors,
  maxTurns,
  repeatedCalls,
  type StopCondition,
  timeLimit,
  tokenBudget,
} from "../dialogue/index.ts";
import {
  type Domain,
  loadDomain,
  loadMcpDomain,
  openForMode,
  openQueryFiles,
  type QueryFile,
} from "../domains/index.ts";
import type { Script } from "../models/index.ts";
import type { FingerprintParts, RunFolder } from "../runs/index.ts";
import { withToolFaults } from "../tools/index.ts";
import { type ClientSource, type CreateNetworkClient, createClientSource } from "./clients.ts";
import { scriptOf } from "./find-script.ts";
import { fingerprintParts } from "./fingerprint.ts";
import type { RunResources } from "./resources.ts";
import type { DatasetSpec, RunSpec } from "./spec.ts";

export type PreparedDataset = {
  spec: DatasetSpec;
  domain: Domain;
  queries: QueryFile;
  agent: ClientSource;
  user: ClientSource | undefined;
  judge: ClientSource | undefined;
  modelNames: { agent: string; user?: string; judge?: string };
  scripted: boolean;
  agentSystem: string;
  systemHash: string;
  stopConditions: StopCondition[];
  parts: FingerprintParts;
  /** the hash of the parts */
  base: string;
  /** a fresh environment for one rollout, in the dataset's mode, with its trouble */
  openEnvironment(query: Query, seed: number): Promise<Environment>;
  scriptOf(query: Query): Script | undefined;
  keepTools(tools: readonly ToolSpec[]): Promise<string>;
};

export type Preparing = { createNetworkClient: CreateNetworkClient; resources: RunResources };

export async function prepareDataset(
  run: RunSpec,
  spec: DatasetSpec,
  { createNetworkClient, resources }: Preparing,
): Promise<Omit<PreparedDataset, "keepTools">> {
  const domain = spec.mcpServers
    ? await loadMcpDomain(spec.name, spec.mcpServers, resources.mcp(spec.mcpServers))
    : await loadDomain(spec.domain, resources);
  const queries = openQueryFiles(spec.queryFiles);
  if (queries.size === 0)
    throw new UsageError(`${spec.name} has no queries (${spec.queryFiles.join(", ") || "no query file"})`);
  const agent = createClientSource(spec.agent, createNetworkClient);
  const user = spec.maxTurns > 1 ? createClientSource(spec.user, createNetworkClient) : undefined;
  const judge = run.monitor.judge && createClientSource(run.monitor.judge, createNetworkClient);
  const sources = { agent, ...(user ? { user } : {}), ...(judge ? { judge } : {}) };
  const scripted = [agent, user].some((source) => source?.scripted);
  if (scripted && !queries.load(0).taskInfo.plan) {
    throw new UsageError(
      `${spec.name}: scripted models play a reference plan, and these queries have none (task_info.plan). Name your models with --agent-model and --user-model`,
    );
  }
  const agentSystem = agentSystemPrompt(domain.policy, spec.agent.prompt);
  const parts = fingerprintParts(run, spec, domain);
  return {
    spec,
    domain,
    queries,
    agent,
    user,
    judge,
    modelNames: Object.fromEntries(
      Object.entries(sources).map(([party, source]) => [party, source.id]),
    ) as PreparedDataset["modelNames"],
    scripted,
    agentSystem,
    systemHash: contentHash(agentSystem),
    stopConditions: stopConditionsFor(run, spec),
    parts,
    base: contentHash(parts),
    openEnvironment: async (query, seed) => {
      const environment = await openForMode(domain, { mode: spec.mode, seed, query, others: spec.otherDomains });
      return spec.faults ? withToolFaults(environment, { ...spec.faults, seed }) : environment;
    },
    scriptOf: ({ taskInfo }) => taskInfo.plan && scriptOf(domain, taskInfo.plan),
  };
}

/** Keeps each tool list once, by identity first: the same list object comes with every rollout of a domain. */
export function toolsKeeper(folder: RunFolder): (tools: readonly ToolSpec[]) => Promise<string> {
  const hashes = new WeakMap<readonly ToolSpec[], Promise<string>>();
  return (tools) => {
    let hash = hashes.get(tools);
    if (!hash) {
      hash = folder.prompts.keepTools(tools);
      hashes.set(tools, hash);
    }
    return hash;
  };
}

function stopConditionsFor({ monitor, limits }: RunSpec, spec: DatasetSpec): StopCondition[] {
  return [
    limits.tokens && tokenBudget(limits.tokens),
    limits.costUsd && costBudget(limits.costUsd),
    limits.seconds && timeLimit(limits.seconds),
    monitor.maxToolErrors && maxToolErrors(monitor.maxToolErrors),
    monitor.maxRepeatedCalls && repeatedCalls(monitor.maxRepeatedCalls),
    maxTurns(spec.maxTurns),
    monitor.maxNoToolTurns && maxNoToolTurns(monitor.maxNoToolTurns),
    monitor.completionPhrases && completionPhrases(),
  ].filter((condition): condition is StopCondition => typeof condition === "function");
}
