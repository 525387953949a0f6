export type { RunBudget } from "./budget.ts";
export type { ClientSource, CreateNetworkClient } from "./clients.ts";
export { listDomains } from "./config/datasets.ts";
export { type LocatedFolder, locateDataset, locateDomain, locateFolder, type Source } from "./config/locate.ts";
export { defined } from "./config/parties.ts";
export { checkYaml, readYaml } from "./config/read-yaml.ts";
export {
  type ConfigOrigin,
  type Overrides,
  quote,
  type ResolvedRun,
  readConfig,
  resolveConfig,
  resolveConfigFile,
} from "./config/resolve.ts";
export { type Config, configJsonSchema, configSchema, LOG_LEVELS } from "./config/schema.ts";
export { type DoctorOptions, examineAll, type Section } from "./doctor.ts";
export { type DryDataset, dryRun } from "./dry-run.ts";
export { ASSUMPTIONS, estimateRollout, type RolloutEstimate } from "./estimate.ts";
export { createScriptFinder, type ScriptFinder } from "./find-script.ts";
export { type QuestionFields, type QuestionSet, resolveQuestions } from "./multi.ts";
export { type Cassette, openNetwork } from "./network.ts";
export { type Pilot, type PilotDataset, runPilot, type Spread, scale } from "./pilot.ts";
export { createResources, type RunResources } from "./resources.ts";
export { dryRunResolved, type RunResolvedOptions, runResolved } from "./run-resolved.ts";
export { type RunOptions, type RunResult, runRollouts } from "./run-rollouts.ts";
export { requireManifest, type ScoreRunOptions, scoreRun, settingsOf } from "./score-run.ts";
export { type ScoredFromOptions, scoredFromManifest } from "./scored-datasets.ts";
export {
  type DatasetSpec,
  DEFAULTS,
  type MonitorSpec,
  type PartySpec,
  type RolloutLimits,
  type RunSpec,
} from "./spec.ts";
