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
  // requests are signed before they reach us, so nothing can be added to them later
  signsBody: true,
  secrets: (env) =>
    ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"].flatMap(
      (name) => readVariable(name, env) ?? [],
    ),
  check: (model, env) => void readCredentials(model, env),
  async load(common, model, env) {
    const { createAmazonBedrock } = await import("@ai-sdk/amazon-bedrock");
    const credentials = readCredentials(model, env);
    // an empty key, unlike a missing one, is not looked up elsewhere, and lets the signature work
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
 * Undefined if a bearer token is used, or if the user's own gateway is called without any credentials.
 * A signature reveals no secret, so requests to a custom api_base may be signed.
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
