export { type Clock, systemClock, timestamp } from "./clock.ts";
export type { Entry, ReplyEntry, ToolFault, ToolResultEntry, VerdictEntry } from "./entry.ts";
export type { Environment, StateChanges, ToolResult } from "./environment.ts";
export { formatPlace, messageOf, type Place, RolloutError, UsageError } from "./errors.ts";
export type {
  DatasetPlan,
  EndpointWait,
  EntryEnd,
  RolloutEnd,
  RolloutStart,
  RunEnd,
  RunEvent,
  RunNote,
  RunStart,
} from "./events.ts";
export { canonicalJson, contentHash, isObject, type Json, type JsonObject, parseJson } from "./json.ts";
export {
  addUsage,
  type ChatMessage,
  type Finish,
  NO_USAGE,
  type Party,
  type ToolCall,
  type ToolSpec,
  type Usage,
} from "./message.ts";
export type { ModelClient, ModelReply, ModelRequest, RequestOrigin } from "./model.ts";
export { didYouMean, fold, nearest } from "./names.ts";
export { type Blame, ended, type Outcome, type StopReason, SUCCESS_OF } from "./outcome.ts";
export {
  fillReferences,
  type Plan,
  type PlanCall,
  type PlanStep,
  type PlanTurn,
  type PlayedCall,
  referenceCalls,
} from "./plan.ts";
export {
  END_TOKENS,
  MODES,
  type Mode,
  type OpeningMessage,
  type Query,
  type RolloutKey,
  rolloutId,
  rolloutSeed,
  type TaskInfo,
} from "./query.ts";
export { createRandom, hexFrom, type Random, seedFrom } from "./random.ts";
export type { Trajectory, TrajectoryMessage, UsageRecord } from "./trajectory.ts";
