// How each model is told to think and what it wants back, as one table: the first row that fits decides. A registry
// entry's own `reasoning` stands above it.
import type { Dialect, ReasoningHabits, ThinkingStyle } from "../resolved.ts";
import type { ReasoningFact } from "./catalogue.ts";

export type HabitsSubject = { provider: string; dialect: Dialect; model: string; fact?: ReasoningFact };

export function habitsOf(subject: HabitsSubject): ReasoningHabits {
  return ROWS.find((row) => fits(row, subject))?.habits ?? NO_HABITS;
}

export const NO_HABITS: ReasoningHabits = { style: "none", sendBack: false, field: "reasoning_content" };

type Row = {
  provider?: RegExp;
  dialect?: Dialect;
  model?: RegExp;
  fact?: ReasoningFact;
  habits: ReasoningHabits;
};

const ROWS: Row[] = [
  { fact: "no", habits: NO_HABITS },

  // Thinking blocks and thought signatures go back untouched within a turn of tool calls, or the provider refuses.
  { dialect: "anthropic", habits: habits("anthropic", "send back", "thinking") },
  { dialect: "bedrock", model: /claude/i, habits: habits("anthropic", "send back", "thinking") },
  { dialect: "google", habits: habits("effort", "send back", "thought") },
  { dialect: "bedrock", habits: NO_HABITS },
  { dialect: "mistral", habits: NO_HABITS },
  { dialect: "cohere", habits: NO_HABITS },

  // Gateways with one parameter for whatever is behind them, and a field of their own.
  {
    provider: /^(openrouter|kilo|cline|cline-pass|vercel-ai-gateway)$/,
    habits: habits("effort", "send back", "reasoning"),
  },

  // DeepSeek from V3.2 on answers 400 when a reply that called tools comes back without its reasoning; the original R1
  // answered 400 when any came back, called no tools, and could not be told to stop thinking. DeepSeek's own
  // `deepseek-reasoner` is no R1 any more, so only names that say R1 are held to be one.
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

  // By name, whoever serves it: also what stands behind a custom api_base.
  { model: /deepseek.*v4/i, habits: habits("thinking", "send back all") },
  { model: /deepseek/i, habits: habits("thinking", "send back") },
  { model: /(^|\/)gpt-\d.*chat/i, habits: NO_HABITS },
  { model: /(^|\/)(o\d|gpt-[5-9]|gpt-oss)/i, habits: habits("effort", "keep") },
  { fact: "effort", habits: habits("effort", "keep") },
  { model: /(^|[/_-])(qwen|qwq)/i, habits: habits("template", "keep") },
];

type Back = "send back" | "send back all" | "keep";

function habits(style: ThinkingStyle, back: Back, field = "reasoning_content"): ReasoningHabits {
  return { style, sendBack: back === "send back all" ? "all" : back === "send back", field };
}

function fits(row: Row, subject: HabitsSubject): boolean {
  return (
    (row.provider === undefined || row.provider.test(subject.provider)) &&
    (row.dialect === undefined || row.dialect === subject.dialect) &&
    (row.model === undefined || row.model.test(subject.model)) &&
    (row.fact === undefined || row.fact === subject.fact)
  );
}
