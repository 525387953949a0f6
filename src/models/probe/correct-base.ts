// An `api_base` without the version at its end is the commonest mistake in one: it is tried with it.
import { hideLogin } from "../../core/index.ts";
import { ModelFailure } from "../failure.ts";
import type { EndpointProbe } from "./endpoint.ts";

/** What the addresses of a wire end with. */
const VERSIONS: { [dialect: string]: string } = {
  openai: "/v1",
  responses: "/v1",
  anthropic: "/v1",
  mistral: "/v1",
  google: "/v1beta",
  cohere: "/v2",
};

/** If the address works with its version, the probe goes on there, and says so. */
export async function correctBase(probe: EndpointProbe, failure: ModelFailure | undefined): Promise<boolean> {
  const { model, role, party, findings } = probe;
  const [base = ""] = model.baseUrls;
  const version = VERSIONS[model.dialect];
  // some servers answer an address that they do not know with a page, or with an error that calls itself a success
  const isUnknown = failure?.status === 404 || failure?.status === 405 || failure?.kind === "bad-reply";
  if (!failure || !isUnknown || version === undefined || /\/v\d\w*\/?$/.test(new URL(base).pathname)) return false;
  const url = new URL(base);
  url.pathname = `${url.pathname.replace(/\/+$/, "")}${version}`;
  probe.model = { ...model, baseUrls: [url.href] };
  const answer = await probe.ask({ messages: [{ role: "user", content: "Answer with the single word: ready" }] });
  if (answer instanceof ModelFailure) {
    probe.model = model;
    return false;
  }
  const shown = hideLogin(url.href);
  findings.push({
    level: "bad",
    text: `${describe(failure)}: api_base lacks ${version}; with it the server answers, and so the rest was asked at ${shown}`,
    fix: {
      where: party.apiBase === undefined || role === "judge" || role === "summary" ? "models" : role,
      yaml: `api_base: ${shown}`,
    },
  });
  return true;
}

function describe({ status }: ModelFailure): string {
  return status === undefined
    ? "what answers there is no model server"
    : `there is nothing at this address (${status})`;
}
