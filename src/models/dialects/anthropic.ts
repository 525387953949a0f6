import { isObject, type JsonObject } from "../../core/index.ts";
import { createAiSdkDialect } from "../ai-sdk/dialect.ts";
import { habits } from "../habit-rule.ts";

const THINKING_BUDGET = 4096;

export const anthropic = createAiSdkDialect({
  name: "anthropic",
  // thinking blocks must go back untouched within a turn of tool calls, or the provider refuses
  habits: [{ habits: habits("anthropic", "send back", "thinking") }],
  userFirst: true,
  signsReasoning: true,
  // it requires a number, which does not include the tokens for thinking
  maxTokens: 8192,
  async load(common, model) {
    const { createAnthropic } = await import("@ai-sdk/anthropic");
    return (fetch) => createAnthropic({ ...common, fetch })(model.model);
  },
  thinking({ on, type = "enabled", effort, others }) {
    if (!on) return { thinking: { type: "disabled" } };
    const budget: JsonObject = type === "enabled" ? { budgetTokens: THINKING_BUDGET } : {};
    return { thinking: { type, ...budget, ...others }, ...(effort !== undefined && { effort }) };
  },
  // newer models hide their thinking unless asked for it
  editBody(body, { on }) {
    if (on !== true || !isObject(body.thinking) || body.thinking.type !== "adaptive") return body;
    return { ...body, thinking: { display: "summarized", ...(body.thinking as JsonObject) } };
  },
});
