import { contentHash } from "../../core/index.ts";
import { createAiSdkDialect } from "../ai-sdk/dialect.ts";
import { NO_HABITS } from "../habit-rule.ts";

export const mistral = createAiSdkDialect({
  name: "mistral",
  habits: [{ habits: NO_HABITS }],
  // nine letters and digits, and nothing else
  callId: (id) => (/^[a-zA-Z0-9]{9}$/.test(id) ? id : contentHash(id).slice(0, 9)),
  async load(common, model) {
    const { createMistral } = await import("@ai-sdk/mistral");
    return (fetch) => createMistral({ ...common, fetch })(model.model);
  },
  thinking: ({ on, effort }) => ({ reasoningEffort: effort ?? (on ? "high" : "none") }),
});
