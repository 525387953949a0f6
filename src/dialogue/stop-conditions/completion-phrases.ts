import { z } from "zod";
import { defineStopCondition } from "./stop-condition.ts";

const PHRASES: readonly RegExp[] = [
  /\b(have|has) (a (great|good|nice|wonderful|lovely)|an excellent) (day|evening|weekend|afternoon|one)\b/i,
  /\bgood ?bye\b/i,
  /\b(thank you|thanks) for (contacting|reaching out|calling)\b/i,
  /\b(your request|everything|all) (has been|is now|is) (fully )?(completed|taken care of|all set)\b/i,
  /祝您(生活|学习|工作)?愉快|再见|感谢您的(咨询|来电)/,
];

/** The dialogue is over although there was no end token. */
export const completionPhrases = defineStopCondition({
  key: "monitor_rule_detection",
  schema: z.boolean().default(false).describe("stop when the agent says goodbye"),
  reasons: { rule_detected: true },
  create:
    () =>
    ({ entries, turnEnded }) => {
      const last = entries.at(-1);
      if (!turnEnded || last?.type !== "reply") return undefined;
      const phrase = PHRASES.map((pattern) => pattern.exec(last.content)?.[0]).find(Boolean);
      return phrase ? { stopReason: "rule_detected", message: `the agent said "${phrase}"` } : undefined;
    },
});
