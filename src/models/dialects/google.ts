import type { JsonObject } from "../../core/index.ts";
import { createAiSdkDialect } from "../ai-sdk/dialect.ts";
import { habits } from "../habit-rule.ts";

export const google = createAiSdkDialect({
  name: "google",
  // thought signatures go back on the parts they came with
  habits: [{ habits: habits("effort", "send back", "thought") }],
  userFirst: true,
  signsReasoning: true,
  async load(common, model) {
    const { createGoogleGenerativeAI } = await import("@ai-sdk/google");
    return (fetch) => createGoogleGenerativeAI({ ...common, fetch })(model.model);
  },
  thinking({ on, effort, others: { budgetTokens, ...others } }, { model }) {
    if (!on) return { thinkingConfig: noThinking(model) };
    const level: JsonObject = effort === undefined ? {} : { thinkingLevel: effort };
    const budget: JsonObject = budgetTokens === undefined ? {} : { thinkingBudget: budgetTokens };
    return { thinkingConfig: { includeThoughts: true, ...level, ...budget, ...others } };
  },
});

/** Not every model can stop thinking; those think as little as they can. */
function noThinking(model: string): JsonObject {
  if (/gemini-2/.test(model)) return { thinkingBudget: model.includes("pro") ? 128 : 0 };
  return { thinkingLevel: "low" };
}
