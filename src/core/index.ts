export { onAbort } from "./abort.ts";
export { type Clock, systemClock, timestamp } from "./clock.ts";
export { addCosts, type Cost, type CostRecord, knownCost, NO_COST, readCost, toCostRecord } from "./cost.ts";
export {
  type Entry,
  isAside,
  type ReplyEntry,
  type SummaryEntry,
  type ToolResultEntry,
  type VerdictEntry,
} from "./entry.ts";
export type {
  CallParty,
  Environment,
  EnvironmentCall,
  OpenedCall,
  StateChanges,
  ToolResult,
  World,
} from "./environment.ts";
export { atLocation, formatLocation, type Location, messageOf, RolloutError, UsageError } from "./errors.ts";
export type {
  CallStart,
  DatasetCounts,
  EntryEnd,
  RolloutEnd,
  RolloutEvent,
  RolloutStart,
  RunEnd,
  RunEvent,
  RunStart,
} from "./events.ts";
export { changesNumbers, ExactNumber, scanNumbers, toPlain, withExactNumbers, writeExact } from "./exact-json.ts";
export { extend } from "./extend.ts";
export {
  canonicalJson,
  contentHash,
  findTooDeep,
  isObject,
  isTooDeep,
  type Json,
  type JsonObject,
  MAX_JSON_DEPTH,
  parseExact,
  parseJson,
  stringEnd,
} from "./json.ts";
export { findKeyKind, isKeyLike, keysIn } from "./key-shapes.ts";
export {
  addUsage,
  type ChatMessage,
  type Finish,
  NO_USAGE,
  type Party,
  sumUsage,
  type ToolCall,
  type ToolSpec,
  type TrajectoryMessage,
  toFunctionTools,
  type Usage,
} from "./message.ts";
export type {
  FormatFault,
  ModelClient,
  ModelParty,
  ModelReply,
  ModelRequest,
  ReasoningSpan,
  RequestOrigin,
  Served,
} from "./model.ts";
export { didYouMean, fold, nearest } from "./names.ts";
export { mean, sum } from "./numbers.ts";
export { dropUndefined, groupBy } from "./objects.ts";
export { metadataOf, ORIGINAL_REASONS, toTrajectory } from "./original-record.ts";
export { type Blame, endWith, LOOP_REASONS, type LoopReason, type Outcome, type StopReason } from "./outcome.ts";
export {
  END_TOKENS,
  hasOpeningCalls,
  MODES,
  type Mode,
  namesakeOf,
  type OpeningMessage,
  type Query,
  type RecordKey,
  type RolloutKey,
  recordKey,
  rolloutId,
  rolloutSeed,
  type TaskInfo,
} from "./query.ts";
export { raceAbort } from "./race-abort.ts";
export { createRandom, hexFrom, type Random, seedFrom } from "./random.ts";
export { createRedactor, hideLogin, isSecretName, isWorthHiding } from "./redact.ts";
export {
  callsOf,
  fillPlaceholders,
  findUnnamed,
  listAllCalls,
  listPlannedCalls,
  listReferences,
  type PartyCall,
  type PlanCall,
  type PlayedCall,
  type ReferencePlan,
} from "./reference-plan.ts";
export { remember } from "./remember.ts";
export { changeTexts } from "./reply-texts.ts";
export {
  type FilledText,
  hideSecret,
  holdsHeaders,
  LITERAL,
  learnAll,
  learnEnvironment,
  learnSecret,
  learnSetting,
  learnUrl,
  redactDeep,
  redactSaid,
  redactSaidJson,
  redactText,
  redactWritten,
} from "./secrets.ts";
export { createShare, parseSplit } from "./split.ts";
export { ANSWER_REQUEST, joinSummary, RESULTS_READ, SUMMARY_REQUEST, splitSummary } from "./summary.ts";
export { cutText, quote, wellFormed, wellFormedJson } from "./text.ts";
export { findErrors, isErrorText, isErrorValue } from "./tool-error.ts";
export {
  type ContextSummary,
  countUsedTokens,
  isScriptedParty,
  type OtherCall,
  type Trajectory,
  type UsageRecord,
} from "./trajectory.ts";
export { fillVariables, readVariable, UnsetVariableError, type Variables } from "./variables.ts";
export { PROGRAM_COMMAND, PROGRAM_VERSION } from "./version.ts";
