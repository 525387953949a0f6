// The library: everything that the command line does, as typed calls.
import { PROGRAM_VERSION } from "./cli/version.ts";
import {
  type Config,
  type Overrides,
  type RunResolvedOptions,
  type RunResult,
  resolveConfig,
  resolveConfigFile,
  runResolved,
} from "./runner/index.ts";

export type { Entry, Json, JsonObject, Outcome, Query, RunEvent, StopReason, Trajectory } from "./core/index.ts";
export { RolloutError, UsageError } from "./core/index.ts";
export { bundledFolder, type Domain, loadDomain, openDatasetFolder, openQueryFiles } from "./domains/index.ts";
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
export type { Cassette, Config, DoctorOptions, DryDataset, Overrides, Pilot, RunResult } from "./runner/index.ts";
export {
  configJsonSchema,
  dryRunResolved,
  examineAll,
  type QuestionSet,
  resolveConfig,
  resolveConfigFile,
  resolveQuestions,
  runPilot,
  type ScoreRunOptions,
  scoreRun,
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
  reportHtml,
  type ScoreRecord,
} from "./scoring/index.ts";
export type { DomainServer, PolicyRule, Row, Table, ToolContext } from "./tools/index.ts";

export type RunRolloutsOptions = Overrides &
  Partial<Omit<RunResolvedOptions, "programVersion">> & {
    /** a config, as a YAML file would hold it, or such a file's path */
    config: Config | string;
  };

/** Makes rollouts and resolves when all that can be done is done; what is there already is kept. */
export async function runRollouts({
  config,
  env = process.env,
  onEvent,
  clock,
  park,
  abort,
  cassette,
  watchNetwork,
  ...overrides
}: RunRolloutsOptions): Promise<RunResult> {
  const own = { folder: "outputs/library", resumeCommand: "rollout resume" };
  const resolved =
    typeof config === "string" ? resolveConfigFile(config, overrides) : resolveConfig(config, own, overrides);
  const watching = Object.fromEntries(
    Object.entries({ onEvent, clock, park, abort, cassette, watchNetwork }).filter(([, value]) => value !== undefined),
  );
  return runResolved(resolved, { ...watching, programVersion: PROGRAM_VERSION, env });
}
