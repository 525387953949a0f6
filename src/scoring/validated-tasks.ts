// `validated_tasks/{Server|Fused}/validated_combos.json` of a dropped-in dataset: the calls of a task with the values that
// were found to work. Optional, as is every part of it.
import { existsSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { isObject, type Json, type JsonObject, type Query } from "../core/index.ts";
import { type DomainFiles, parseNames, setKey } from "../domains/index.ts";
import { readJson } from "../files/index.ts";

type ValidatedCall = { name: string; arguments: JsonObject; open: string[] };
export type ValidatedTask = { calls: ValidatedCall[] };
export type FindValidated = (query: Query) => ValidatedTask | undefined;

const FROM_BEFORE = /^<From previous tool call output>$/i;

export function openValidatedTasks(files: Pick<DomainFiles, "servers" | "serverFiles">): FindValidated {
  const [server] = Object.values(files.serverFiles);
  const file = server && findFile(join(dirname(dirname(server)), "validated_tasks"), files.servers);
  if (!file) return () => undefined;
  const combos = readCombos(file);
  return ({ taskInfo }) => {
    const combo = combos.find(
      (candidate) =>
        (taskInfo.combo_id !== undefined && candidate.combo_id === taskInfo.combo_id) ||
        (taskInfo.trajectory_hash !== undefined && candidate.trajectory_hash === taskInfo.trajectory_hash),
    );
    return combo && toTask(combo);
  };
}

function findFile(folder: string, servers: string[]): string | undefined {
  if (!existsSync(folder)) return undefined;
  const key = setKey(servers);
  const own = readdirSync(folder).find((name) => {
    const named = parseNames(name, servers);
    return named !== undefined && setKey(named) === key;
  });
  const file = own && join(folder, own, "validated_combos.json");
  return file && existsSync(file) ? file : undefined;
}

function readCombos(file: string): Record<string, unknown>[] {
  const list = readJson(file);
  return Array.isArray(list) ? list.filter(isObject) : [];
}

function toTask(combo: Record<string, unknown>): ValidatedTask | undefined {
  const { trajectory, value_domain_samples: samples } = combo;
  if (!Array.isArray(trajectory)) return undefined;
  const values = Object.entries(isObject(samples) ? samples : {});
  return { calls: trajectory.map((name) => toCall(String(name), values)) };
}

/** A value of null says nothing about the argument; the literal mark says that an earlier result gives it. */
function toCall(name: string, values: [string, unknown][]): ValidatedCall {
  const call: ValidatedCall = { name, arguments: {}, open: [] };
  for (const [key, value] of values) {
    const tool = key.slice(0, key.lastIndexOf("."));
    if ((tool !== name && !name.endsWith(`.${tool}`)) || value === null) continue;
    const parameter = key.slice(key.lastIndexOf(".") + 1);
    if (typeof value === "string" && FROM_BEFORE.test(value)) call.open.push(parameter);
    else call.arguments[parameter] = value as Json;
  }
  return call;
}
