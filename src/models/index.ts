export { findEntry, type Registry, type RegistryEntry, registryFileSchema, registrySchema } from "./registry.ts";
export { resolveModel } from "./resolve.ts";
export {
  type CallSettings,
  DIALECTS,
  type Dialect,
  type EndpointLimits,
  type Prices,
  type ReasoningHabits,
  type ResolvedModel,
  THINKING_STYLES,
  type ThinkingStyle,
} from "./resolved.ts";
export { createScriptedClient } from "./scripted/clients.ts";
export { FAILURES, type Failure, perform } from "./scripted/performance.ts";
export { type PlanFor, parseScriptedName, type Script } from "./scripted/script.ts";
export { createRedactor, secretsOf, type Variables } from "./secrets.ts";
export {
  type CatalogueModel,
  type CatalogueProvider,
  findModel,
  findProvider,
  listModels,
  listProviders,
} from "./catalogue/catalogue.ts";
export { habitsOf } from "./catalogue/habits.ts";
export { suggestModels } from "./catalogue/suggest.ts";
export { registryEntrySchema } from "./registry.ts";
export type { ResolveContext } from "./resolve.ts";
export { fillVariables } from "./secrets.ts";
export { createModels, type ModelOverrides, type Models, type ModelsDeps } from "./connect.ts";
