// `validated_tasks/{Server|Fused}/validated_combos.json` of a dropped-in dataset: the calls of a task with the values that
// were found to work. Optional, as is every part of it.
import { existsSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { canonicalJson, groupBy, isObject, type Json, type JsonObject, type Query } from "../core/index.ts";
import { type DomainFiles, parseNames, setKey } from "../domains/index.ts";
import { readJson } from "../files/index.ts";

/** `open`: arguments whose value an earlier result gives. */
type ValidatedCall = { name: string; arguments: JsonObject; open: string[] };
export type ValidatedTask = { calls: ValidatedCall[] };
export type FindValidated = (query: Query) => ValidatedTask | undefined;
type Combo = Record<string, unknown>;

const FROM_BEFORE = /^<From previous tool call output>$/i;

export function openValidatedTasks(files: Pick<DomainFiles, "servers" | "serverFiles">): FindValidated {
  const [server] = Object.values(files.serverFiles);
  const file = server && findFile(join(dirname(dirname(server)), "validated_tasks"), files.servers);
  if (!file) return () => undefined;
  const combos = readCombos(file);
  const byId = groupGiven(combos, ({ combo_id }) => combo_id);
  const byHash = groupGiven(combos, ({ trajectory_hash }) => trajectory_hash);
  return ({ taskInfo }) => {
    const { combo_id: id, trajectory_hash: hash } = taskInfo;
    const combo = isGiven(id)
      ? byId.get(String(id))?.[0]
      : isGiven(hash)
        ? theOnly(byHash.get(String(hash)))
        : undefined;
    return combo && toTask(combo);
  };
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null && value !== "";
}

function groupGiven(combos: Combo[], read: (combo: Combo) => unknown): Map<string, Combo[]> {
  return groupBy(
    combos.filter((combo) => isGiven(read(combo))),
    (combo) => String(read(combo)),
  );
}

/** A hash stands for a list of tool names, so several tasks may share it: then it says nothing about the values. */
function theOnly(combos: Combo[] = []): Combo | undefined {
  const values = (combo: Combo) => canonicalJson((combo.value_domain_samples ?? null) as Json);
  const [first] = combos;
  return first && combos.every((combo) => values(combo) === values(first)) ? first : undefined;
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

function readCombos(file: string): Combo[] {
  const list = readJson(file);
  return Array.isArray(list) ? list.filter(isObject) : [];
}

function toTask(combo: Combo): ValidatedTask | undefined {
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
