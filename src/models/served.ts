// What a server says about itself: kept with the reply, since a name that one asks for may be answered by another model.
import { extend, type ModelReply, type Served } from "../core/index.ts";

type Headers = { [name: string]: string | string[] | undefined };

/** Request ids, for asking a provider about a call; a proxy's own words about which model it chose. */
const TELLING = [
  ...["x-request-id", "request-id", "x-amzn-requestid", "apim-request-id"],
  ...["x-litellm-call-id", "x-litellm-model-id", "x-litellm-model-group", "x-litellm-attempted-fallbacks"],
];
const MAX_LENGTH = 200;

type Answered = { asked: string; model?: unknown; id?: unknown; fingerprint?: unknown; headers: Headers };

export function withServed(reply: ModelReply, answer: Answered): ModelReply {
  const { asked, headers } = answer;
  const served: Served = {};
  for (const member of ["model", "id", "fingerprint"] as const) {
    const value = answer[member];
    if (typeof value === "string" && value !== "") served[member] = value.slice(0, MAX_LENGTH);
  }
  if (served.model !== undefined && isOtherModel(asked, served.model)) served.insteadOf = asked;
  for (const name of TELLING) {
    const value = headers[name];
    if (typeof value !== "string") continue;
    served.headers ??= {};
    served.headers[name] = value.slice(0, MAX_LENGTH);
  }
  return Object.keys(served).length > 0 ? extend(reply, { served }) : reply;
}

/** Whether a model's answer names another one: dates, paths, files and tags around the same name are no difference. */
function isOtherModel(asked: string, answered: string): boolean {
  if (asked === answered) return false;
  const [a, b] = [bareName(asked), bareName(answered)];
  return a !== b && !b.startsWith(`${a}-`) && !b.startsWith(`${a}@`) && !a.startsWith(`${b}-`);
}

function bareName(name: string): string {
  const last = name.toLowerCase().split("/").at(-1) ?? "";
  return last.replace(/\.gguf$/, "").replace(/:latest$/, "");
}
