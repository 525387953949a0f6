export { BUNDLED_PATH, bundledFolder } from "./bundled.ts";
export { checkDatasets, checkFolder } from "./check-folder.ts";
export type { CheckReport } from "./check-report.ts";
export { type Domain, type DomainResources, type Isolation, loadDomain, readToolList, toToolSpecs } from "./domain.ts";
export { createScript, createScriptFinder, scriptedPlan } from "./find-script.ts";
export {
  DatasetFolder,
  type DatasetKind,
  type DomainFiles,
  findDatasetFolder,
  listLikelyFolders,
  openDatasetFolder,
} from "./folder.ts";
export { describeSharedWrites, loadMcpDomain, requireMcpDomain, type ServerLocations } from "./mcp-domain.ts";
export { openForMode, requireWrongTools } from "./modes.ts";
export { parseNames, setKey } from "./names.ts";
export { listOwnServers, type OwnTools, openSources } from "./open-sources.ts";
export { openTask } from "./open-task.ts";
export { requireReferences } from "./plan-references.ts";
export { expectedState, type PlayedPlan, playCalls, playPlan, SharedEffects } from "./play-plan.ts";
export { readPolicy } from "./policy.ts";
export { openQueryFiles, type QueryDefaults, QueryFile } from "./query-file.ts";
export { requireParties } from "./require-parties.ts";
export { requireStart } from "./require-start.ts";
export { requireWorlds } from "./require-worlds.ts";
export { openResources, type RunResources } from "./resources.ts";
export { STARTER_LANGUAGES, type StarterLanguage, writeStarter } from "./starter.ts";
