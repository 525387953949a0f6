// `${VAR}` in what the registry and the config add to request bodies. It is filled in only for the wire: fingerprints and
// manifests keep it as it is written.
import { type FilledText, fillVariables, isObject, type Json, learnSetting, type Variables } from "../core/index.ts";
import type { CallSettings, ResolvedModel } from "./resolved.ts";

export function fillBodies(
  model: ResolvedModel,
  settings: CallSettings,
  env: Variables,
): { model: ResolvedModel; settings: CallSettings } {
  const fill = <T extends Json>(body: T): T => fillDeep(body, "", `model "${model.id}", extra_params`, env) as T;
  const { extraParams } = settings;
  return {
    model: { ...model, body: fill(model.body) },
    settings: extraParams ? { ...settings, extraParams: fill(extraParams) } : settings,
  };
}

function fillDeep(value: Json, name: string, where: string, env: Variables): Json {
  if (typeof value === "string") return learnt(name, fillVariables(value, { env, where, allowOthers: true }));
  if (Array.isArray(value)) return value.map((item) => fillDeep(item, name, where, env));
  if (!isObject(value)) return value;
  const members = Object.entries(value as { [key: string]: Json });
  return Object.fromEntries(members.map(([key, member]) => [key, fillDeep(member, key, `${where}.${key}`, env)]));
}

/** The text, once its secrets are known. */
export function learnt(name: string, filled: FilledText): string {
  learnSetting(name, filled);
  return filled.text;
}
