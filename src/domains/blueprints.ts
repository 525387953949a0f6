// `blueprints.json` of a dropped-in dataset, next to its other folders: which arguments and fields its author marked as not
// deciding anything (`ignore_in_eval`, or a `param_category` of filter, freetext or relationship_pk). Optional.
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { isObject } from "../core/index.ts";
import { readJson } from "../files/index.ts";

export type FreeParts = {
  /** arguments that may have any value, by `Server.tool` */
  arguments: { [tool: string]: string[] };
  /** fields that may have any value, by table; `*` for all tables */
  fields: { [table: string]: string[] };
};

const FREE_CATEGORIES = ["filter", "freetext", "free_text", "relationship_pk"];

export function readFreeParts(servers: string[], serverFiles: { [server: string]: string }): FreeParts {
  const [file] = Object.values(serverFiles);
  const path = file && join(dirname(dirname(file)), "blueprints.json");
  const parts: FreeParts = { arguments: {}, fields: {} };
  if (!path || !existsSync(path)) return parts;
  for (const blueprint of listOf(readJson(path))) {
    const server = String(blueprint.MCP_server_name ?? "");
    if (!servers.includes(server)) continue;
    for (const { name, parameters } of listOf(blueprint.functions)) {
      parts.arguments[`${server}.${String(name)}`] = namesOfFree(parameters, isFree);
      add("*", namesOfFree(parameters, isFreeField));
    }
    for (const relationship of listOf(blueprint.relationships)) {
      const table = relationship.name ?? relationship.relationship_name;
      add(typeof table === "string" ? table : "*", namesOfFree(relationship.attributes, isFree));
    }
  }
  return parts;

  function add(table: string, names: string[]): void {
    if (names.length > 0) parts.fields[table] = [...new Set([...(parts.fields[table] ?? []), ...names])];
  }
}

function listOf(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/** Parameters are an object by name, or a list of objects with names. */
function namesOfFree(parameters: unknown, isWanted: (marks: Record<string, unknown>) => boolean): string[] {
  const named = Array.isArray(parameters)
    ? listOf(parameters).map((one) => [String(one.name), one] as const)
    : Object.entries(isObject(parameters) ? parameters : {});
  return named.flatMap(([name, marks]) => (isObject(marks) && isWanted(marks) ? [name] : []));
}

function isFree({ ignore_in_eval, param_category }: Record<string, unknown>): boolean {
  if (typeof ignore_in_eval === "boolean") return ignore_in_eval;
  return FREE_CATEGORIES.includes(String(param_category));
}

/** A filter narrows a lookup; a field of the same name, such as `status`, is not free for that. */
function isFreeField(marks: Record<string, unknown>): boolean {
  return isFree(marks) && marks.param_category !== "filter";
}
