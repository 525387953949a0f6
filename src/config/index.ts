export { chooseRunnable } from "./datasets.ts";
export { describeType } from "./describe-type.ts";
export { hideKeys } from "./keys.ts";
export { DatasetLocator } from "./locate.ts";
export { readModelsFile, usualModelsFile } from "./models-file.ts";
export { type ConfigPatch, fromProgram, type ProgramPatch } from "./patch.ts";
export { withVariablePlaces } from "./places.ts";
export { readYaml } from "./read-yaml.ts";
export { findDomains, resolveConfig, resolveConfigFile, resolveManifest } from "./resolve.ts";
export { resolveQuestions } from "./resolve-questions.ts";
export type { DatasetSpec, ResolvedRun } from "./run-spec.ts";
export {
  CONFIG_SECTIONS,
  type Config,
  type ConfigFlag,
  configJsonSchema,
  type FullConfig,
  LOG_LEVELS,
  listFlags,
} from "./schema.ts";
export { createServerOpener } from "./stored-servers.ts";
