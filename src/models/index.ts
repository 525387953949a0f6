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
