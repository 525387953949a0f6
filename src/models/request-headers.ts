// The headers of every request to a model's endpoint, for every dialect.
import { PROGRAM_VERSION, type RequestOrigin } from "../core/index.ts";
import type { ResolvedModel } from "./resolved.ts";

type Headers = { [name: string]: string };

const USER_AGENT = `rollout/${PROGRAM_VERSION}`;
const PLACES = /\{(query_id|rollout|party|dataset|run)\}/g;

/** Fills in what a header says about its call; undefined if none says anything. */
export function createHeaderFiller(model: ResolvedModel, run = ""): ((origin: RequestOrigin) => Headers) | undefined {
  const open = Object.entries(requestHeaders(model)).filter(([, value]) => value.search(PLACES) !== -1);
  if (open.length === 0) return undefined;
  return ({ queryId, rollout, party, dataset }) => {
    const facts: Headers = { query_id: queryId, rollout: String(rollout), party, dataset, run };
    // a header holds no line ends, and only characters of one byte
    const fact = (name: string) => encodeURI(facts[name] ?? "").replace(/%20/g, " ");
    return Object.fromEntries(
      open.map(([name, value]) => [name, value.replace(PLACES, (_, place: string) => fact(place))]),
    );
  };
}

/** The registry's headers in lower case, and the login in the URL if there is no key. */
export function requestHeaders(model: ResolvedModel): { [name: string]: string } {
  const url = new URL(model.baseUrls[0] ?? "");
  const account = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
  const headers: { [name: string]: string } = { "user-agent": USER_AGENT };
  if (model.apiKey === undefined && account !== ":")
    headers.authorization = `Basic ${Buffer.from(account).toString("base64")}`;
  for (const [name, value] of Object.entries(model.headers)) headers[name.toLowerCase()] = value;
  return headers;
}
