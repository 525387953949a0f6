// The headers of every request to a model's endpoint, for every dialect.
import type { ResolvedModel } from "./resolved.ts";

/** The registry's headers in lower case, and the login in the URL if there is no key. */
export function requestHeaders(model: ResolvedModel): { [name: string]: string } {
  const url = new URL(model.baseUrls[0] ?? "");
  const account = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
  const headers: { [name: string]: string } = {};
  if (model.apiKey === undefined && account !== ":")
    headers.authorization = `Basic ${Buffer.from(account).toString("base64")}`;
  for (const [name, value] of Object.entries(model.headers)) headers[name.toLowerCase()] = value;
  return headers;
}
