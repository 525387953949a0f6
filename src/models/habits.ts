// How each model is told to think and what it wants back, as one table: the first rule that fits decides. A dialect's own
// rules come before it, and a registry entry's own `reasoning` overrides all.
import { findDialect } from "./dialects/index.ts";
import { fits, type HabitRule, type HabitsSubject, habits, NO_HABITS } from "./habit-rule.ts";
import type { ReasoningHabits } from "./resolved.ts";

export function habitsOf(subject: HabitsSubject): ReasoningHabits {
  if (subject.fact === "no" || subject.dialect === "scripted") return NO_HABITS;
  const rules = [...(findDialect(subject.dialect).habits ?? []), ...RULES];
  return rules.find((rule) => fits(rule, subject))?.habits ?? NO_HABITS;
}

const RULES: HabitRule[] = [
  // Gateways with one parameter for every model behind them, and their own field.
  {
    provider: /^(openrouter|kilo|cline|cline-pass|vercel-ai-gateway)$/,
    habits: habits("effort", "send back", "reasoning"),
  },

  // DeepSeek from V3.2 on answers 400 when a reply that called tools comes back without its reasoning; the original R1
  // answered 400 when any came back, called no tools, and could not be told to stop thinking. DeepSeek's own
  // `deepseek-reasoner` is no longer R1, so only names that say R1 are taken for it.
  { model: /deepseek.*\br1\b/i, habits: NO_HABITS },
  // From V4 on that holds for all later turns too, and everything that DeepSeek itself serves is V4 or newer.
  { provider: /^deepseek$/, habits: habits("thinking", "send back all") },
  { model: /deepseek.*v4/i, fact: "effort", habits: habits("effort", "send back all") },

  // The same switch elsewhere. These keep their reasoning between the tool calls of a turn.
  { provider: /^(moonshot|kimi)/, model: /kimi-k3/i, habits: habits("effort", "send back") },
  { provider: /^(zai|zhipuai|moonshot|kimi|xiaomi)/, habits: habits("thinking", "send back") },
  { provider: /^(volcengine|doubao)/, habits: habits("thinking", "keep") },

  // Inference servers hand the switch to the model's chat template, which also places this turn's reasoning.
  { provider: /^(vllm|sglang|llamacpp)$/, model: /gpt-oss/i, habits: habits("effort", "send back") },
  { provider: /^(vllm|sglang|llamacpp)$/, habits: habits("template", "send back") },
  { provider: /^(alibaba|qwen)/, habits: habits("flag", "keep") },

  // By name, no matter who serves it, even behind a custom api_base.
  { model: /deepseek.*v4/i, habits: habits("thinking", "send back all") },
  { model: /deepseek/i, habits: habits("thinking", "send back") },
  { model: /(^|\/)gpt-\d.*chat/i, habits: NO_HABITS },
  { model: /(^|\/)(o\d|gpt-[5-9]|gpt-oss)/i, habits: habits("effort", "keep") },
  { fact: "effort", habits: habits("effort", "keep") },
  { model: /(^|[/_-])(qwen|qwq)/i, habits: habits("template", "keep") },
];
