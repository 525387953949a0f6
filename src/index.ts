// The library: everything that the command line does, as typed calls.
import {
  type Config,
  createServerOpener,
  fromProgram,
  type ProgramPatch,
  resolveConfig,
  resolveConfigFile,
} from "./config/index.ts";
import { preflight } from "./estimates/index.ts";
import { type MakeOptions, makeRollouts, type RunResult } from "./runner/index.ts";
import { type MergedRun, type MergeOptions, mergeRuns as merge } from "./runs/index.ts";
import { type EvaluationCounts, SCORES_FILE, type ScoreRunOptions, scoreRun as score } from "./scoring/index.ts";

export { type Config, configJsonSchema, resolveConfig, resolveConfigFile } from "./config/index.ts";
export type {
  ChatMessage,
  Entry,
  Json,
  JsonObject,
  ModelClient,
  ModelReply,
  ModelRequest,
  Outcome,
  Query,
  RunEvent,
  StopReason,
  ToolCall,
  ToolSpec,
  Trajectory,
} from "./core/index.ts";
export { RolloutError, UsageError } from "./core/index.ts";
export { type DoctorOptions, examineAll } from "./doctor/index.ts";
export { bundledFolder, type Domain, loadDomain, openDatasetFolder, openQueryFiles } from "./domains/index.ts";
export { type DryDataset, dryRun, type Pilot, runPilot } from "./estimates/index.ts";
export {
  collectStats,
  type ExportOptions,
  type ExportRecord,
  type ExportResult,
  exportDataset,
  labelRecords,
  parseSplit,
  type RecordSource,
  type Transform,
  validateFile,
} from "./export/index.ts";
export type { Answer, AnswerRequest, OwnModels } from "./models/index.ts";
export {
  type Difference,
  makeRollouts,
  type ReplayedRun,
  type ReplayRunOptions,
  type RunResult,
  replayRun,
} from "./runner/index.ts";
export {
  buildReport,
  type Check,
  type CheckContext,
  type CheckResult,
  type Comparison,
  compareReports,
  type EvaluationSettings,
  passAtK,
  passHatK,
  type Report,
  readDialogues,
  reportHtml,
  type ScoreRecord,
  type ScoreRunOptions,
  scoreFiles,
} from "./scoring/index.ts";
export { openTelemetry, type Telemetry, type TelemetryOptions } from "./telemetry/index.ts";
export type { DomainServer, PolicyRule, Row, Table, ToolContext } from "./tools/index.ts";

/** Scores a finished or unfinished run by its folder; what is scored already is kept. */
export function scoreRun(options: ScoreRunOptions): Promise<EvaluationCounts> {
  return score({ openServers: createServerOpener, ...options });
}

/** Puts the shares of a run together in a new folder, `target`. */
export function mergeRuns(options: Omit<MergeOptions, "keyedFiles">): MergedRun {
  return merge({ ...options, keyedFiles: [SCORES_FILE] });
}

/** The config's keys may be given here too, in camel case: they win over the config's own, as flags do. */
export type RunRolloutsOptions = MakeOptions &
  ProgramPatch & {
    /** a config, as a YAML file would hold it, or such a file's path */
    config: Config | string;
  };

/** Makes rollouts and resolves when all that can be done is done; what is there already is kept. */
export async function runRollouts(options: RunRolloutsOptions): Promise<RunResult> {
  const {
    config,
    env = process.env,
    onEvent,
    clock,
    park,
    abort,
    watchNetwork,
    createNetworkClient,
    agents,
    telemetry,
    ...more
  } = options;
  const { inspect = preflight, ...given } = more;
  const patch = fromProgram(given);
  const run =
    typeof config === "string"
      ? resolveConfigFile(config, patch)
      : resolveConfig(config, { folder: "outputs/library", patch });
  const watched = { onEvent, watchNetwork, telemetry, inspect };
  return makeRollouts(run, { env, clock, park, abort, createNetworkClient, agents, ...watched });
}
