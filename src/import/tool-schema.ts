// Functions as other formats describe them, as tools with a JSON Schema.
import { isObject, type Json, type JsonObject } from "../core/index.ts";

export type DescribedTool = { name: string; description: string; parameters: JsonObject };

/** An OpenAI tool, a bare function, or one whose parameters are a plain list of names with their types. */
export function toTool(described: JsonObject): DescribedTool | undefined {
  const { name, description, parameters } = (
    isObject(described.function) ? described.function : described
  ) as JsonObject;
  if (typeof name !== "string" || name === "") return undefined;
  const schema = isObject(parameters) ? (parameters as JsonObject) : {};
  const isBare = !isObject(schema.properties) && Object.values(schema).some(isObject);
  return {
    name: toolName(name),
    description: typeof description === "string" ? description : "",
    parameters: isBare ? fromBare(schema) : { type: "object", ...(toSchema(schema) as JsonObject) },
  };
}

/** As models' endpoints take it: `spotify.play` is spotify_play. */
export function toolName(written: string): string {
  return written.replace(/[^\w-]/g, "_").slice(0, 64);
}

function fromBare(parameters: JsonObject): JsonObject {
  const entries = Object.entries(parameters);
  const isRequired = ([, value]: [string, Json]) =>
    isObject(value) && !("default" in value) && !String(value.type).includes("optional");
  return {
    type: "object",
    properties: Object.fromEntries(entries.map(([name, value]) => [name, toSchema(value)])),
    required: entries.filter(isRequired).map(([name]) => name),
  };
}

const TYPES: { [written: string]: string | undefined } = {
  dict: "object",
  object: "object",
  hashmap: "object",
  float: "number",
  double: "number",
  number: "number",
  int: "integer",
  integer: "integer",
  long: "integer",
  str: "string",
  string: "string",
  bool: "boolean",
  boolean: "boolean",
  list: "array",
  array: "array",
  tuple: "array",
  arraylist: "array",
};

/** Types under the names of JSON Schema; one that has none there is left open. */
function toSchema(value: Json): Json {
  if (!isObject(value)) return value;
  const { type, properties, items, required, optional: _, ...rest } = value as JsonObject;
  const known = typeof type === "string" ? TYPES[(/^\w+/.exec(type)?.[0] ?? "").toLowerCase()] : undefined;
  const schema: JsonObject = { ...(known && { type: known }), ...rest };
  if (isObject(properties))
    schema.properties = Object.fromEntries(
      Object.entries(properties).map(([name, member]) => [name, toSchema(member as Json)]),
    );
  if (isObject(items)) schema.items = toSchema(items);
  if (Array.isArray(required)) schema.required = required;
  return schema;
}
