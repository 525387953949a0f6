import { createAiSdkDialect } from "../ai-sdk/dialect.ts";
import { NO_HABITS } from "../habit-rule.ts";

export const cohere = createAiSdkDialect({
  name: "cohere",
  habits: [{ habits: NO_HABITS }],
  async load(common, model) {
    const { createCohere } = await import("@ai-sdk/cohere");
    return (fetch) => createCohere({ ...common, fetch })(model.model);
  },
  thinking({ on, others }) {
    const tokenBudget = others.tokenBudget ?? others.budgetTokens;
    return { thinking: { type: on ? "enabled" : "disabled", ...(tokenBudget !== undefined && { tokenBudget }) } };
  },
});
