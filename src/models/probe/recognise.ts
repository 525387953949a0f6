// Which server is at an address, as far as it says so itself, and what to start it with. Asked only when there is
// something to advise.
import { isObject, parseJson } from "../../core/index.ts";
import { requestHeaders } from "../request-headers.ts";
import type { EndpointProbe } from "./endpoint.ts";

const SERVERS = ["vllm", "sglang", "llamacpp", "ollama", "lmstudio", "litellm", "mock"] as const;
export type ServerName = (typeof SERVERS)[number];
/** What it is, and how that is known. */
export type Server = { name: ServerName; by: string };

type Said = { status: number; headers: { [name: string]: unknown }; text: string };

/** Undefined for a server that does not say what it is. */
export async function recogniseServer(probe: EndpointProbe): Promise<Server | undefined> {
  const base = new URL(probe.model.baseUrls[0] ?? "");
  const path = base.pathname.replace(/\/+$/, "");
  const models = await get(probe, `${path}/models`);
  const found = (models && (byHeaders(models) ?? byModels(models))) ?? (await byVersion(probe));
  if (found) return found;
  const provider = SERVERS.find((name) => name === probe.model.provider);
  return provider && { name: provider, by: "the provider's name" };
}

function byHeaders({ headers }: Said): Server | undefined {
  const server = String(headers.server ?? "");
  if (/llama\.?cpp/i.test(server)) return { name: "llamacpp", by: `server: ${server}` };
  if (Object.keys(headers).some((name) => name.startsWith("x-litellm"))) return { name: "litellm", by: "its headers" };
  return undefined;
}

/** `owned_by` of the models listed there. */
const OWNERS: { [owner: string]: ServerName } = {
  vllm: "vllm",
  sglang: "sglang",
  llamacpp: "llamacpp",
  library: "ollama",
  organization_owner: "lmstudio",
  rollout: "mock",
};

function byModels({ text }: Said): Server | undefined {
  const list = parseJson(text);
  const models: unknown[] = isObject(list) && Array.isArray(list.data) ? list.data : [];
  const owners = models.map((model) => (isObject(model) ? String(model.owned_by) : ""));
  const owner = owners.find((each) => OWNERS[each] !== undefined);
  return owner === undefined ? undefined : { name: OWNERS[owner] as ServerName, by: `owned_by: ${owner}` };
}

/** At the server's root. */
async function byVersion(probe: EndpointProbe): Promise<Server | undefined> {
  const [vllm, ollama, sglang] = await Promise.all([
    get(probe, "/version"),
    get(probe, "/api/version"),
    get(probe, "/get_model_info"),
  ]);
  const version = (said: Said | undefined) => {
    const body = said?.status === 200 ? parseJson(said.text) : undefined;
    return isObject(body) && typeof body.version === "string" ? body.version : undefined;
  };
  if (version(vllm)) return { name: "vllm", by: `version ${version(vllm)}` };
  if (version(ollama)) return { name: "ollama", by: `version ${version(ollama)}` };
  return sglang?.status === 200 && sglang.text.includes("model_path")
    ? { name: "sglang", by: "/get_model_info" }
    : undefined;
}

const PATIENCE_MS = 5000;
const MAX_TEXT = 100_000;

async function get(probe: EndpointProbe, path: string): Promise<Said | undefined> {
  const { model, dispatchers, signal } = probe;
  const { origin } = new URL(model.baseUrls[0] ?? "");
  const key = model.apiKey === undefined ? {} : { authorization: `Bearer ${model.apiKey}`, "x-api-key": model.apiKey };
  try {
    const answer = await dispatchers.for(origin).request({
      origin,
      path,
      method: "GET",
      headers: { ...key, ...requestHeaders(model) },
      signal: AbortSignal.any([signal, AbortSignal.timeout(PATIENCE_MS)]),
    });
    return { status: answer.statusCode, headers: answer.headers, text: (await answer.body.text()).slice(0, MAX_TEXT) };
  } catch {
    signal.throwIfAborted();
    return undefined;
  }
}
