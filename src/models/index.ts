export { CONNECT_SECONDS, IDLE_SECONDS } from "./call-limits.ts";
export {
  type CatalogueModel,
  type CatalogueProvider,
  catalogueMade,
  findModel,
  findProvider,
  listModels,
  listProviders,
} from "./catalogue/catalogue.ts";
export { searchModels } from "./catalogue/search.ts";
export { suggestModels } from "./catalogue/suggest.ts";
export { type ClientSource, type CreateNetworkClient, createClientSource } from "./client-source.ts";
export type { NetworkLoad } from "./connect.ts";
export { countTokens } from "./count-tokens.ts";
export { estimateTokens, TokenScale } from "./estimate.ts";
export { PromptInDoubt } from "./first-prompts.ts";
export { habitsOf } from "./habits.ts";
export { FAULT_KINDS } from "./mock-server/fault-spec.ts";
export type { DialogueSign, FindScript } from "./mock-server/play.ts";
export { type MockServer, type RequestCounts, startMockServer } from "./mock-server/server.ts";
export { openNetwork } from "./network.ts";
export { type Answer, type AnswerRequest, type OwnModels, withOwnModels } from "./own-models.ts";
export type { Finding, Fix } from "./probe/finding.ts";
export { probeModel } from "./probe/probe-model.ts";
export { findEntry, type Registry, registryEntrySchema, registryFileSchema, registrySchema } from "./registry.ts";
export { resolveModel } from "./resolve.ts";
export type {
  CallSettings,
  PartyModel,
  Prices,
  ResolvedModel,
} from "./resolved.ts";
export type { RetryWait } from "./retry.ts";
export type { Script } from "./scripted/script.ts";
export { SetupError } from "./start-check.ts";
export { isTextCall } from "./text-calls/find-calls.ts";
export { type TextFormatName, TOOL_FORMATS, type ToolFormat } from "./tool-format/formats.ts";
export { toTextDialogue } from "./tool-format/text-messages.ts";
export { formatSystem } from "./tool-format/text-system.ts";
