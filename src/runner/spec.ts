// Everything a run needs to know, resolved: what configs and flags come to, and what library callers may build.
import type { Json, Mode } from "../core/index.ts";
import type { AgentPrompt, UserPrompt } from "../dialogue/index.ts";
import type { DomainFiles } from "../domains/index.ts";
import type { CallSettings } from "../models/index.ts";
import type { SyncMode } from "../runs/index.ts";
import type { EvaluationSettings } from "../scoring/index.ts";
import type { McpServersConfig, NameStyle, ToolFaults } from "../tools/index.ts";
import type { RunBudget } from "./budget.ts";

export type PartySpec = {
  model: string;
  settings: CallSettings;
  apiBase?: string | string[];
  apiKey?: string;
};

export type DatasetSpec = {
  name: string;
  domain: DomainFiles;
  queryFiles: string[];
  /** instead of `trajectories/<dataset>.jsonl` in the run folder */
  output?: string;
  /** a question set: one file for each round of rollouts, with the fields that such sets have */
  rounds?: true;
  agent: PartySpec & { prompt: AgentPrompt };
  user: PartySpec & { prompt: UserPrompt };
  maxTurns: number;
  maxStepsPerTurn: number;
  mode: Mode;
  /** real MCP servers in place of the domain's own */
  mcpServers?: McpServersConfig;
  /** trouble that the tools make on purpose */
  faults?: ToolFaults;
  /** domains whose tools may be offered in `wrong_tool` */
  otherDomains: DomainFiles[];
};

export type MonitorSpec = {
  maxNoToolTurns?: number;
  maxRepeatedCalls?: number;
  maxToolErrors?: number;
  completionPhrases?: boolean;
  judge?: PartySpec;
};

/** Limits of one rollout. */
export type RolloutLimits = { tokens?: number; costUsd?: number; seconds?: number };

export type RunSpec = {
  folder: string;
  datasets: DatasetSpec[];
  seed: number;
  rollouts: number;
  maxWorkers: number;
  monitor: MonitorSpec;
  limits: RolloutLimits;
  /** of the whole run */
  budget: RunBudget;
  /** score each rollout as soon as it is finished */
  evaluation?: EvaluationSettings;
  nameStyle: NameStyle;
  /** the Python for dropped-in servers: an interpreter, or a virtual environment's folder */
  python?: string;
  /** the first so many queries of each dataset, or just these */
  limit?: number;
  ids?: string[];
  /** false starts beside an earlier run, never over it */
  resume: boolean;
  allowDrift: boolean;
  retryFailed: boolean;
  useCheckpoints: boolean;
  checkpointDir?: string;
  sync: SyncMode;
  /** as it was asked for, keys by NAME or "<literal>", for the manifest */
  config: Json;
  resumeCommand: string;
};

export const DEFAULTS = {
  seed: 0,
  rollouts: 1,
  maxWorkers: 8,
  maxTurns: 20,
  maxStepsPerTurn: 10,
  maxNoToolTurns: 5,
  maxRepeatedCalls: 5,
} as const;
