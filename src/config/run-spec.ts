// A run, resolved: its config with every default filled in, its datasets located, its models named.
import type { Mode } from "../core/index.ts";
import type { AgentPrompt, UserPrompt } from "../dialogue/index.ts";
import type { DomainFiles, Isolation, OwnTools, QueryDefaults, ServerLocations } from "../domains/index.ts";
import type { PartyModel, Registry } from "../models/index.ts";
import type { McpServersConfig, ToolFaults } from "../tools/index.ts";
import type { FullConfig } from "./schema.ts";

export type DatasetSpec = {
  name: string;
  domain: DomainFiles;
  queryFiles: string[];
  /** replaces `trajectories/<dataset>.jsonl` in the run folder */
  output?: string;
  /** a question set: one file per round of rollouts, with the fields that such sets have */
  rounds: boolean;
  agent: PartyModel & { prompt: AgentPrompt };
  user: PartyModel & { prompt: UserPrompt };
  maxTurns: number;
  /** what decides when a dialogue stops, by config key */
  stops: { [key: string]: unknown };
  maxStepsPerTurn: number;
  /** the agent's context in tokens, if the config says it, and what happens before it is full */
  context: { limit?: number; onFull: FullConfig["on_context_full"] };
  mode: Mode;
  /** how answers to plain questions are marked */
  answerFormat?: string;
  /** real MCP servers in place of the domain's own */
  mcpServers?: McpServersConfig;
  /** plain functions, a corpus, tools that come along */
  ownTools?: OwnTools;
  /** where the config says how to start each of them */
  mcpLocations?: ServerLocations;
  /** what all its queries have: calls that make the world, and tools of the user's */
  defaults: QueryDefaults;
  /** faults injected into the tools on purpose */
  faults?: ToolFaults;
  /** where servers in TypeScript or JavaScript run */
  isolation: Isolation;
  /** domains whose tools may be offered in `wrong_tool` */
  otherDomains: DomainFiles[];
};

export type ResolvedRun = {
  /** as it applies this time */
  config: FullConfig;
  /** what the run folder keeps instead, where the config applies only this time */
  lasting?: Pick<FullConfig, "ids" | "limit" | "split" | "dataset" | "retry_failed" | "rollouts">;
  /** the file that the config was read from, if it was */
  configFile?: string;
  folder: string;
  datasets: DatasetSpec[];
  registry: Registry;
  /** the files that its settings were read from */
  sources?: string[];
  /** what people should know about how it was resolved, one line each */
  notes?: string[];
  /** the monitor's judge */
  judge?: PartyModel;
  /** who writes summaries, if it is not the agent */
  summary?: PartyModel;
};
