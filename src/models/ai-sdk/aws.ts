// What Bedrock needs to sign a request: the AWS variables of the environment that is handed in, and the region.
import { readVariable, UsageError, type Variables } from "../../core/index.ts";
import type { ResolvedModel } from "../resolved.ts";

export type AwsCredentials = { accessKeyId: string; secretAccessKey: string; sessionToken?: string; region: string };

/**
 * Undefined where a bearer token does the work, or where a gateway of the user's own is asked without any credentials.
 * A signature shows no secret, so a custom api_base may be signed for.
 */
export function awsCredentials(model: ResolvedModel, env: Variables): AwsCredentials | undefined {
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
  const region = /bedrock-runtime(?:-fips)?\.([\w-]+)\./.exec(host)?.[1] ?? regionOf(env);
  if (region === undefined) throw new UsageError(`model "${model.id}" needs a region: set AWS_REGION`);
  return { accessKeyId, secretAccessKey, region, ...(sessionToken !== undefined && { sessionToken }) };
}

/** The texts that must not be seen. */
export function awsSecrets(env: Variables): string[] {
  return ["AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"].flatMap((name) => readVariable(name, env) ?? []);
}

function regionOf(env: Variables): string | undefined {
  return readVariable("AWS_REGION", env) ?? readVariable("AWS_DEFAULT_REGION", env);
}
