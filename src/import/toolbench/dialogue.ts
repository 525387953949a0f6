// A row of a dialogue with tools, whatever its form: who said what, which calls were made, what they answered.
import type { PlanCall } from "../../core/index.ts";
import type { DescribedTool } from "../tool-schema.ts";

/** `content` is missing where no answer was recorded. */
export type MadeCall = PlanCall & { content: string | undefined };

/** One reply of the agent is one event: calls, a text, or both. */
export type DialogueEvent = { user: string } | { say: string; calls: MadeCall[] };

export type RecordedDialogue = {
  tools: DescribedTool[];
  events: DialogueEvent[];
  hasSystem: boolean;
};
