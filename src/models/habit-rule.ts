// A rule about how models are told to think, and what they want back.
import type { ReasoningFact } from "./catalogue/catalogue.ts";
import type { ReasoningHabits, ThinkingStyle } from "./resolved.ts";

/** What is left out fits every model. */
export type HabitRule = { provider?: RegExp; model?: RegExp; fact?: ReasoningFact; habits: ReasoningHabits };

export type HabitsSubject = { provider: string; dialect: string; model: string; fact?: ReasoningFact };

type Back = "send back" | "send back all" | "keep";

export function habits(style: ThinkingStyle, back: Back, field = "reasoning_content"): ReasoningHabits {
  return { style, sendBack: back === "send back all" ? "all" : back === "send back", field };
}

export const NO_HABITS: ReasoningHabits = { style: "none", sendBack: false, field: "reasoning_content" };

export function fits(rule: HabitRule, subject: HabitsSubject): boolean {
  return (
    (rule.provider === undefined || rule.provider.test(subject.provider)) &&
    (rule.model === undefined || rule.model.test(subject.model)) &&
    (rule.fact === undefined || rule.fact === subject.fact)
  );
}
