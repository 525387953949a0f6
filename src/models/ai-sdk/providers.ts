// Where the provider packages come in: each is loaded when a model of its dialect is first called, and told everything,
// so that none of them looks into the process's environment.
import type { LanguageModelV3 } from "@ai-sdk/provider";
import type { Dialect, ResolvedModel } from "../resolved.ts";
import type { AwsCredentials } from "./aws.ts";
import { NO_KEY } from "./exchange.ts";

export type OpenModel = (fetch: typeof globalThis.fetch) => LanguageModelV3;

/** A function that makes the package's model with the given `fetch`: so cheap that every call has its own. */
export async function loadProvider(model: ResolvedModel, aws: AwsCredentials | undefined): Promise<OpenModel> {
  const name = model.model;
  const common = {
    baseURL: model.baseUrls[0] ?? "",
    apiKey: model.apiKey ?? NO_KEY,
    headers: headersOf(model),
    // the dialogue names calls that come without an id
    generateId: () => "",
  };
  switch (model.dialect) {
    case "anthropic": {
      const { createAnthropic } = await import("@ai-sdk/anthropic");
      return (fetch) => createAnthropic({ ...common, fetch })(name);
    }
    case "google": {
      const { createGoogleGenerativeAI } = await import("@ai-sdk/google");
      return (fetch) => createGoogleGenerativeAI({ ...common, fetch })(name);
    }
    case "bedrock": {
      const { createAmazonBedrock } = await import("@ai-sdk/amazon-bedrock");
      // an empty key, unlike none, is not looked for elsewhere, and lets the signature do
      return (fetch) => createAmazonBedrock({ ...common, ...aws, ...(aws && { apiKey: "" }), fetch })(name);
    }
    case "azure": {
      const { createAzure } = await import("@ai-sdk/azure");
      return (fetch) => createAzure({ ...common, fetch }).chat(name);
    }
    case "mistral": {
      const { createMistral } = await import("@ai-sdk/mistral");
      return (fetch) => createMistral({ ...common, fetch })(name);
    }
    case "cohere": {
      const { createCohere } = await import("@ai-sdk/cohere");
      return (fetch) => createCohere({ ...common, fetch })(name);
    }
    case "openai":
    case "scripted":
      throw new Error(`no provider package speaks ${model.dialect satisfies Dialect}`);
  }
}

/** The registry's headers, and the account in the URL where there is no key. */
function headersOf(model: ResolvedModel): { [name: string]: string } {
  const url = new URL(model.baseUrls[0] ?? "");
  const account = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
  const headers: { [name: string]: string } = {};
  if (model.apiKey === undefined && account !== ":")
    headers.authorization = `Basic ${Buffer.from(account).toString("base64")}`;
  for (const [name, value] of Object.entries(model.headers)) headers[name.toLowerCase()] = value;
  return headers;
}
