// What a config or a file may say about evaluation: `eval:`.
import { z } from "zod";

export const TOLERANCE = 1e-6;
export const QUALITY_PASS = 4;
export const VOTES = 1;

const names = z.array(z.string().min(1));

const actionRulesSchema = z.strictObject({
  order: z
    .enum(["any", "strict", "reference"])
    .optional()
    .describe("strict: the reference's own calls in their order, also those it only tried (reference: the old name)"),
  extra: z
    .enum(["reads", "all", "none"])
    .optional()
    .describe("calls beyond the reference that are fine: those that change nothing (default), all, none"),
  ignore: names.optional().describe("arguments that may have any value"),
  free_text: names.optional().describe("arguments in free words: any text will do where the reference has one"),
  case_sensitive: z.boolean().optional().describe("whether texts must agree in case too"),
  tolerance: z.number().nonnegative().optional().describe(`how far numbers may be apart; default: ${TOLERANCE}`),
});

export const evaluationSchema = z.strictObject({
  checks: names.optional().describe("names of checks, or files that export one; default: all that need no judge"),
  judge_model: z.string().optional().describe("a model for checks that ask one"),
  votes: z.int().positive().optional().describe(`how often a judge is asked, the majority counts; default: ${VOTES}`),
  score: z.enum(["product", "mean", "min"]).optional().describe("how the checks' scores make the task's"),
  actions: actionRulesSchema
    .optional()
    .describe("how calls are compared with the reference: order, extra, ignore, free_text, case_sensitive, tolerance"),
  quality_pass: z
    .number()
    .min(1)
    .max(5)
    .optional()
    .describe(`the mark from which quality passes; default: ${QUALITY_PASS}`),
});

export type EvaluationSettings = z.infer<typeof evaluationSchema>;
export type ActionRules = z.infer<typeof actionRulesSchema>;
