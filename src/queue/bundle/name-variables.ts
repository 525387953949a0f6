// Which variables a run's models and servers name, and which keys their providers expect.
import type { ResolvedRun } from "../../config/index.ts";
import { hideLogin, readVariable, type Variables } from "../../core/index.ts";
import { findEntry, findProvider, type PartyModel, type Registry, resolveModel } from "../../models/index.ts";
import { NamedVariables } from "./variables.ts";

type Party = { party: PartyModel; where: string };

/** Throws a UsageError for a secret that is written out. */
export function nameVariables(
  { registry, datasets, config }: Pick<ResolvedRun, "registry" | "datasets" | "config">,
  parties: readonly Party[],
  env: Variables,
): { needs: Set<string>; secret: Set<string>; notes: string[] } {
  const models = new NamedVariables(env);
  const tools = new NamedVariables(env);
  const notes = new Set<string>();
  for (const [name, { headers = {}, ...entry }] of Object.entries(registry)) {
    models.read(entry, `model "${name}"`);
    readHeaders(models, headers, `model "${name}", headers`);
  }
  for (const { party, where } of parties) {
    const { extraParams, thinkingOptions } = party.settings;
    const written = { api_base: party.apiBase, api_key: party.apiKey, extra_params: extraParams };
    models.read({ ...written, thinking: thinkingOptions }, where);
    if (!party.model.startsWith("scripted/"))
      for (const url of needProvider(party, { registry, env, models })) notes.add(localNote(where, url));
  }
  for (const { mcpServers = {} } of datasets) {
    for (const [name, { args = [], headers = {}, here: _here, ...server }] of Object.entries(mcpServers)) {
      tools.read(server, `mcpServers.${name}`);
      tools.readArguments(args, `mcpServers.${name}.args`);
      readHeaders(tools, headers, `mcpServers.${name}.headers`);
      if (isLocal(server.url)) notes.add(localNote(`mcpServers.${name}`, server.url));
    }
  }
  // cassettes answer without keys
  const needs = new Set([...(config.replay === undefined ? models.needs : []), ...tools.needs]);
  return { needs, secret: new Set([...models.secret, ...tools.secret]), notes: [...notes] };
}

type Naming = { registry: Registry; env: Variables; models: NamedVariables };

/** What the model's provider expects; returns addresses that mean another machine on every worker. */
function needProvider(party: PartyModel, { registry, env, models }: Naming): string[] {
  const model = resolveModel(party.model, { registry, env, overrides: party, allowMissingKeys: true });
  const entry = findEntry(party.model, registry)?.entry;
  const isCustom = (party.apiBase ?? entry?.api_base) !== undefined;
  const provider = isCustom ? undefined : findProvider(model.provider);
  if (provider) models.read(provider.url, `model "${party.model}"`);
  const keys = party.apiKey || entry?.api_key ? [] : (provider?.keys ?? []);
  const set = keys.filter((name) => readVariable(name, env) !== undefined);
  if (keys.length > 0 && (set.length > 0 || !provider?.keyOptional)) models.needOneOf(keys);
  if (model.dialect === "bedrock" && set.length === 0)
    for (const name of AWS) if (readVariable(name, env) !== undefined) models.needOneOf([name]);
  return model.baseUrls.filter(isLocal);
}

/** Where there is no bearer token, these sign. */
const AWS = ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_REGION", "AWS_DEFAULT_REGION"];

function isLocal(url: string | undefined): url is string {
  return url !== undefined && /^https?:\/\/([^/?#]*@)?(localhost|127\.[\d.]+|\[::1\]|0\.0\.0\.0)(?=[:/?#]|$)/.test(url);
}

function localNote(where: string, url: string): string {
  return `${where}: ${hideLogin(url)} is another machine on every worker: its own`;
}

function readHeaders(named: NamedVariables, headers: { [name: string]: string }, where: string): void {
  // `X-Token-2` is one too
  for (const [name, text] of Object.entries(headers))
    named.read(text, `${where}.${name}`, /token/i.test(name) ? "token" : name);
}
