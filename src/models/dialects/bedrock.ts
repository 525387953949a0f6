import { type JsonObject, readVariable, UsageError, type Variables } from "../../core/index.ts";
import { createAiSdkDialect } from "../ai-sdk/dialect.ts";
import { habits, NO_HABITS } from "../habit-rule.ts";
import type { ResolvedModel } from "../resolved.ts";

const THINKING_BUDGET = 4096;

export const bedrock = createAiSdkDialect({
  name: "bedrock",
  habits: [{ model: /claude/i, habits: habits("anthropic", "send back", "thinking") }, { habits: NO_HABITS }],
  userFirst: true,
  signsReasoning: true,
  // it cannot say "none"; its package would drop the tools, and with them every call and result in the history
  alwaysAuto: true,
  // requests are signed before they come to us, so that nothing can be added to them later
  signsBody: true,
  secrets: (env) => ["AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"].flatMap((name) => readVariable(name, env) ?? []),
  check: (model, env) => void readCredentials(model, env),
  async load(common, model, env) {
    const { createAmazonBedrock } = await import("@ai-sdk/amazon-bedrock");
    const credentials = readCredentials(model, env);
    // an empty key, unlike none, is not looked for elsewhere, and lets the signature do
    const signing = credentials && { ...credentials, apiKey: "" };
    return (fetch) => createAmazonBedrock({ ...common, ...signing, fetch })(model.model);
  },
  thinking({ on, type = "enabled", effort, others }, { reasoning }) {
    if (!on) return { reasoningConfig: { type: "disabled" } };
    const isBudgeted = reasoning.style === "anthropic" && type === "enabled";
    const budget: JsonObject = isBudgeted ? { budgetTokens: THINKING_BUDGET } : {};
    const most: JsonObject = effort === undefined ? {} : { maxReasoningEffort: effort };
    return { reasoningConfig: { type, ...budget, ...others, ...most } };
  },
});

type Credentials = { accessKeyId: string; secretAccessKey: string; sessionToken?: string; region: string };

/**
 * Undefined where a bearer token does the work, or where a gateway of the user's own is asked without any credentials.
 * A signature shows no secret, so a custom api_base may be signed for.
 */
function readCredentials(model: ResolvedModel, env: Variables): Credentials | undefined {
  if (model.apiKey !== undefined) return undefined;
  const accessKeyId = readVariable("AWS_ACCESS_KEY_ID", env);
  const secretAccessKey = readVariable("AWS_SECRET_ACCESS_KEY", env);
  const sessionToken = readVariable("AWS_SESSION_TOKEN", env);
  const host = new URL(model.baseUrls[0] ?? "").hostname;
  if (accessKeyId === undefined || secretAccessKey === undefined) {
    if (!/\.amazonaws\.com(\.cn)?$/.test(host)) return undefined;
    const names = "AWS_BEARER_TOKEN_BEDROCK, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY";
    throw new UsageError(`model "${model.id}" needs a key: set ${names}`);
  }
  const region =
    /bedrock-runtime(?:-fips)?\.([\w-]+)\./.exec(host)?.[1] ??
    readVariable("AWS_REGION", env) ??
    readVariable("AWS_DEFAULT_REGION", env);
  if (region === undefined) throw new UsageError(`model "${model.id}" needs a region: set AWS_REGION`);
  return { accessKeyId, secretAccessKey, sessionToken, region };
}
