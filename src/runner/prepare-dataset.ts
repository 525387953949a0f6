// A dataset made ready: its domain loaded, its queries indexed, its models found. Every user mistake is reported here,
// before anything is written.
import { type DatasetSpec, type ResolvedRun, withVariablePlaces } from "../config/index.ts";
import {
  contentHash,
  type Environment,
  extend,
  type Query,
  type ReferencePlan,
  rolloutSeed,
  type Trajectory,
  UsageError,
  type World,
} from "../core/index.ts";
import { type AgentPrompt, agentSystemPrompt, createStopPolicy, type StopPolicy } from "../dialogue/index.ts";
import {
  createScript,
  type Domain,
  openForMode,
  openQueryFiles,
  openSources,
  type QueryFile,
  type RunResources,
  readPolicy,
  requireMcpDomain,
  requireParties,
  requireReferences,
  requireStart,
  requireWorlds,
  requireWrongTools,
  scriptedPlan,
} from "../domains/index.ts";
import { type ClientSource, type CreateNetworkClient, createClientSource, type Script } from "../models/index.ts";
import type { FingerprintParts } from "../runs/index.ts";
import { describeAnswerFormat, markSaid } from "../scoring/index.ts";
import { withToolFaults } from "../tools/index.ts";
import { fingerprintParts } from "./fingerprint.ts";
import { requireOwnIds } from "./own-ids.ts";
import { chooseQueries, roundsOf } from "./plan.ts";
import { type PreparedContext, prepareContext } from "./prepare-context.ts";

export type PreparedDataset = {
  spec: DatasetSpec;
  domain: Domain;
  queries: QueryFile;
  agent: ClientSource;
  user: ClientSource | undefined;
  judge: ClientSource | undefined;
  context: PreparedContext | undefined;
  modelNames: Trajectory["metadata"]["models"];
  scripted: boolean;
  /** the agent's system prompt: the dataset's, or the query's own */
  systemOf(query?: Query): { system: string; hash: string };
  stopPolicy: StopPolicy;
  parts: FingerprintParts;
  /** the hash of the parts */
  base: string;
  /** a fresh environment for one rollout, in the dataset's mode, with its injected faults */
  openEnvironment(world: World & { query: Query }): Promise<Environment>;
  scriptOf(query: Query): Script | undefined;
};

export type Preparing = { createNetworkClient: CreateNetworkClient; resources: RunResources };

export function prepareDataset(run: ResolvedRun, spec: DatasetSpec, preparing: Preparing): Promise<PreparedDataset> {
  return withVariablePlaces(run, () => prepare(run, spec, preparing));
}

async function prepare(
  run: ResolvedRun,
  spec: DatasetSpec,
  { createNetworkClient, resources }: Preparing,
): Promise<PreparedDataset> {
  const queries = openQueryFiles(spec.queryFiles, spec.defaults);
  if (queries.size === 0)
    throw new UsageError(`${spec.name} has no queries (${spec.queryFiles.join(", ") || "no query file"})`);
  if (spec.rounds) queries.requireQuestions();
  const domain = await openDomain(run, spec, queries, resources);
  requireOwnIds({ name: spec.name, queries }, roundsOf(run));
  if (spec.mode === "wrong_tool") {
    const chosen = chooseQueries(run.config, { queries, spec });
    requireWrongTools(domain, { dataset: spec.name, others: spec.otherDomains, queries, chosen });
  }
  if (spec.mode === "positive")
    await requireParties(domain, { queries, chosen: chooseQueries(run.config, { queries, spec }) });
  const agent = createClientSource(spec.agent, createNetworkClient);
  const user = spec.maxTurns > 1 ? createClientSource(spec.user, createNetworkClient) : undefined;
  const judge = run.judge && createClientSource(run.judge, createNetworkClient);
  const context = prepareContext(run, spec, agent, createNetworkClient);
  const scripted = agent.scripted || (user?.scripted ?? false);
  if (scripted && !queries.load(0).taskInfo.plan) {
    throw new UsageError(
      `${spec.name}: scripted models play a reference plan, and these queries have none (task_info.plan). Name your models with --agent-model and --user-model`,
    );
  }
  const play = scripted && spec.mode === "positive" && !spec.mcpServers && !spec.ownTools?.files.length;
  await requireReferences(domain, { queries, chosen: chooseQueries(run.config, { queries, spec }), play });
  const systemOf = createSystemPrompts(spec, domain);
  const toolFormats = { agent: agent.toolFormat, user: user?.toolFormat };
  const sent = { domainHash: domain.contentHash, systemHash: systemOf().hash, toolFormats };
  const parts = fingerprintParts(run, spec, sent);
  return {
    spec,
    domain,
    queries,
    agent,
    user,
    judge,
    context,
    modelNames: {
      agent: agent.id,
      user: user?.id,
      judge: judge?.id,
      summary: context?.onFull === "summarise" ? context.summariser.id : undefined,
    },
    scripted,
    systemOf,
    stopPolicy: createStopPolicy(spec.stops),
    parts,
    base: contentHash(parts),
    openEnvironment: async (world) => {
      const environment = await openForMode(domain, extend(world, { mode: spec.mode, others: spec.otherDomains }));
      return spec.faults ? withToolFaults(environment, { ...spec.faults, seed: world.seed }) : environment;
    },
    scriptOf: (query) => query.taskInfo.plan && createScript(domain, markAnswers(scriptedPlan(query), spec)),
  };
}

function createSystemPrompts(spec: DatasetSpec, { toolbox }: Domain): PreparedDataset["systemOf"] {
  const policy = readPolicy(spec.domain, spec.mode);
  const { mode, rounds, answerFormat } = spec;
  const hasTools = mode === "positive" && toolbox.tools.length > 0;
  const question = rounds && mode !== "wrong_tool" ? { hasTools } : undefined;
  const sentence = describeAnswerFormat(answerFormat);
  const make = (prompt: AgentPrompt) => {
    const system = agentSystemPrompt({ policy, prompt, mode, answerFormat: sentence, question });
    return { system, hash: contentHash(system) };
  };
  const shared = make(spec.agent.prompt);
  return (query) => (query?.systemPrompt === undefined ? shared : make({ systemPrompt: query.systemPrompt }));
}

/** A flawless agent marks its answers as it is told to. */
function markAnswers(plan: ReferencePlan, { rounds, answerFormat }: DatasetSpec): ReferencePlan {
  if (!rounds || answerFormat === undefined) return plan;
  return plan.map((turn) => (turn.say === undefined ? turn : { ...turn, say: markSaid(turn.say, answerFormat) }));
}

/** With its tools started, if the dialogues are to use them. */
async function openDomain(run: ResolvedRun, spec: DatasetSpec, queries: QueryFile, resources: RunResources) {
  const { name, domain: files, mcpServers = {}, mcpLocations, ownTools, mode } = spec;
  const openServers = () => {
    const hub = resources.mcp(mcpServers);
    const chosen = chooseQueries({ ...run.config, ...run.lasting }, { queries, spec });
    requireWorlds(name, hub, { queries, chosen });
    const query = queries.load(chosen[0] ?? 0);
    const seed = rolloutSeed(run.config.seed, { dataset: name, queryId: query.id, rollout: 0 });
    const example = { query, rollout: 0, seed };
    return requireMcpDomain(name, { servers: mcpServers, hub, locations: mcpLocations, example });
  };
  const domain = await openSources(spec, resources, openServers);
  const isOwn = spec.mcpServers === undefined && (!ownTools || ownTools.besidesFolder);
  if (mode === "positive" && isOwn) await requireStart(domain, files);
  return domain;
}
