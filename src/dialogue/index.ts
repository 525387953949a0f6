export { answerGroup, groupCalls } from "./answer-calls.ts";
export type { ContextPolicy } from "./context-room.ts";
export { readUserText } from "./end-tokens.ts";
export { faultsOf, toMessages, toOtherCalls, toSummaries } from "./messages.ts";
export { type DialogueSetup, playDialogue } from "./play-dialogue.ts";
export {
  type AgentPrompt,
  agentSystemPrompt,
  type UserPrompt,
  userGuidelines,
  userSystemPrompt,
} from "./prompts.ts";
export { createStopPolicy, STOP_CONDITIONS, STOP_REASONS, type StopPolicy } from "./stop-conditions/index.ts";
