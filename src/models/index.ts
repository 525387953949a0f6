export {
  type CallPlace,
  type CassetteStore,
  createReplayClient,
  type RecordedCall,
  withCassette,
} from "./cassettes/cassette.ts";
export type { ClientFacts } from "./cassettes/fingerprint.ts";
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
export { createModels, type ModelOverrides, type Models, type ModelsDeps, type NetworkLoad } from "./connect.ts";
export { countTokens } from "./count-tokens.ts";
export { type Examination, examineModel } from "./doctor/examine.ts";
export type { Finding, Fix } from "./doctor/patient.ts";
export { FAULT_KINDS, type FaultKind, parseFaults } from "./mock-server/fault-spec.ts";
export type { DialogueSign, FindScript } from "./mock-server/play.ts";
export {
  type MockServer,
  type MockServerOptions,
  type RequestCounts,
  type ServedRequest,
  startMockServer,
} from "./mock-server/server.ts";
export {
  findEntry,
  type Registry,
  type RegistryEntry,
  registryEntrySchema,
  registryFileSchema,
  registrySchema,
} from "./registry.ts";
export type { ResolveContext } from "./resolve.ts";
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
export { createRedactor, fillVariables, secretsOf, type Variables } from "./secrets.ts";
