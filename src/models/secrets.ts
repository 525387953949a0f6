// The secrets of a model.
import { isSecretName } from "../core/index.ts";
import type { ResolvedModel } from "./resolved.ts";

/** Every secret in a resolved model: for createRedactor. */
export function secretsOf(model: ResolvedModel): string[] {
  const headers = Object.entries(model.headers)
    .filter(([name]) => isSecretName(name) || /token/i.test(name))
    .flatMap(([, value]) => [value, value.replace(/^\w+\s+/, "")]);
  const passwords = model.baseUrls
    .map((url) => (URL.canParse(url) ? new URL(url).password : ""))
    .flatMap((password) => [password, decodeSafely(password)]);
  return [model.apiKey ?? "", ...headers, ...passwords].filter((secret) => secret !== "");
}

function decodeSafely(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
