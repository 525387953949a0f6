export { readUserText } from "./end-tokens.ts";
export { faultsOf, toMessages } from "./messages.ts";
export { type DialogueSetup, playDialogue, type Speaker } from "./play-dialogue.ts";
export { type AgentPrompt, agentSystemPrompt, type UserPrompt, userGuidelines, userSystemPrompt } from "./prompts.ts";
export {
  completionPhrases,
  costBudget,
  maxNoToolTurns,
  maxToolErrors,
  maxTurns,
  type Progress,
  repeatedCalls,
  type StopCondition,
  timeLimit,
  tokenBudget,
  usageOf,
} from "./stop-conditions.ts";
export { NEUTRAL_OPENER, type ReasoningSpan, viewFor } from "./view.ts";
