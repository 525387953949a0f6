// A tool's JSON schema as fields that a person fills in, for the terminal and the page, and what was typed as the text of
// its arguments. Numbers stay as they were typed: they never pass through JavaScript's.
import type { Json, JsonObject } from "../core/index.ts";

type FieldKind = "text" | "number" | "integer" | "boolean" | "choice" | "list" | "json";

export type Field = {
  name: string;
  kind: FieldKind;
  required: boolean;
  description: string;
  /** of a choice, each as it is shown and as JSON */
  choices?: { label: string; json: string }[];
  /** of a list: its items, one in each line */
  item?: Field;
};

/** What is wrong with what was typed, by the field's name. */
export type Problems = { [field: string]: string };

/** None if the arguments cannot be told from the schema: then they are written as JSON. */
export function fieldsOf(schema: JsonObject): Field[] | undefined {
  const root = follow(schema, schema);
  if (!isObject(root.properties)) return root.additionalProperties === false || isBare(root) ? [] : undefined;
  if (["anyOf", "oneOf", "allOf"].some((key) => root[key] !== undefined)) return undefined;
  const required = Array.isArray(root.required) ? root.required : [];
  return Object.entries(root.properties).map(([name, property]) =>
    toField(name, isObject(property) ? property : {}, { root: schema, required: required.includes(name) }),
  );
}

/** How a field's value is written, in a few words. */
export function describeField({ kind, choices = [], item }: Field): string {
  if (kind === "choice") return `one of ${choices.map(({ label }) => label).join(", ")}`;
  if (kind === "list") return `one in each line: ${describeField(item as Field)}`;
  return { text: "text", number: "number", integer: "whole number", boolean: "true or false", json: "JSON" }[kind];
}

/** The arguments as JSON text, or what is wrong. A field that is left empty and not required is left out. */
export function writeArguments(
  fields: readonly Field[],
  typed: { [field: string]: string },
): { arguments: string } | { problems: Problems } {
  const problems: Problems = Object.create(null); // a field may be called __proto__
  const members: string[] = [];
  for (const field of fields) {
    const written = writeField(field, ownText(typed, field.name) ?? "");
    if (written && "problem" in written) problems[field.name] = written.problem;
    else if (written) members.push(`${JSON.stringify(field.name)}:${written.json}`);
  }
  return Object.keys(problems).length > 0 ? { problems } : { arguments: `{${members.join(",")}}` };
}

/** What was typed or said for this field, whatever it is called. */
export function ownText(texts: { [field: string]: string }, name: string): string | undefined {
  return Object.hasOwn(texts, name) ? texts[name] : undefined;
}

type Written = { json: string } | { problem: string };

/** Undefined: left out. */
export function writeField(field: Field, text: string): Written | undefined {
  if (text.trim() === "") return field.required ? { problem: `${field.name} is needed` } : undefined;
  return writeValue(field, text);
}

/** As JSON writes numbers: `1.0` and integers of any size stay what they are. */
const NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/;
const INTEGER = /^-?(0|[1-9]\d*)(\.0+)?$/;

function writeValue(field: Field, text: string): Written {
  const { kind } = field;
  const word = text.trim();
  const problem = { problem: `${field.name} must be ${describeField(field)}` };
  if (kind === "text") return { json: JSON.stringify(text) };
  if (kind === "number") return NUMBER.test(word) ? { json: word } : problem;
  if (kind === "integer") return INTEGER.test(word) ? { json: word } : problem;
  if (kind === "boolean") return word === "true" || word === "false" ? { json: word } : problem;
  if (kind === "choice") {
    const chosen = field.choices?.find(({ label, json }) => label === text || label === word || json === word);
    return chosen ? { json: chosen.json } : problem;
  }
  if (kind === "list" && !word.startsWith("[")) return writeList(field.item as Field, text);
  return parses(word) ? { json: word } : { problem: `${field.name} must be JSON: ${whyNot(word)}` };
}

function writeList(item: Field, text: string): Written {
  const written = text
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line) => writeValue(item, line.trim()));
  const wrong = written.find((value) => "problem" in value);
  return wrong ?? { json: `[${written.map((value) => ("json" in value ? value.json : "")).join(",")}]` };
}

type Context = { root: JsonObject; required: boolean };

function toField(name: string, given: JsonObject, { root, required }: Context): Field {
  const schema = withoutNull(follow(given, root), root);
  const said = [given.description, schema.description].find((text) => typeof text === "string");
  const field: Omit<Field, "kind"> = { name, required, description: String(said ?? "") };
  const values = Array.isArray(schema.enum) ? schema.enum : schema.const === undefined ? undefined : [schema.const];
  if (values) return { ...field, kind: "choice", choices: values.map(toChoice) };
  const type = Array.isArray(schema.type) ? schema.type.filter((each) => each !== "null") : [schema.type];
  if (type.length !== 1) return { ...field, kind: "json" };
  switch (type[0]) {
    case "string":
      return { ...field, kind: "text" };
    case "number":
    case "integer":
    case "boolean":
      return { ...field, kind: type[0] };
    case "array": {
      const item = toField(name, isObject(schema.items) ? schema.items : {}, { root, required: true });
      const isPlain = item.kind !== "json" && item.kind !== "list" && schema.prefixItems === undefined;
      return isPlain ? { ...field, kind: "list", item } : { ...field, kind: "json" };
    }
    default:
      return { ...field, kind: "json" };
  }
}

function toChoice(value: Json): { label: string; json: string } {
  const json = JSON.stringify(value);
  return { label: typeof value === "string" ? value : json, json };
}

/** What is null or one other thing is asked for as that other thing; leaving it out stands for null. */
function withoutNull(schema: JsonObject, root: JsonObject): JsonObject {
  const either = schema.anyOf ?? schema.oneOf;
  if (!Array.isArray(either)) return schema;
  const rest = either.map((each) => (isObject(each) ? follow(each, root) : {})).filter(({ type }) => type !== "null");
  return rest.length === 1 ? (rest[0] as JsonObject) : {};
}

const MAX_FOLLOWED = 20;

/** Through references within the schema itself. */
function follow(schema: JsonObject, root: JsonObject): JsonObject {
  let found = schema;
  for (let steps = 0; typeof found.$ref === "string"; steps++) {
    if (steps === MAX_FOLLOWED || !found.$ref.startsWith("#/")) return {};
    const path = found.$ref.slice(2).split("/");
    const target = path.reduce<Json | undefined>((at, part) => {
      const key = decodeURIComponent(part).replaceAll("~1", "/").replaceAll("~0", "~");
      return isObject(at) && Object.hasOwn(at, key) ? at[key] : undefined;
    }, root);
    if (!isObject(target)) return {};
    found = target;
  }
  return found;
}

function isBare(schema: JsonObject): boolean {
  return Object.keys(schema).every((key) => key === "type" || key === "description" || key === "title");
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function parses(text: string): boolean {
  return whyNot(text) === "";
}

function whyNot(text: string): string {
  try {
    JSON.parse(text);
    return "";
  } catch (error) {
    return (error as Error).message;
  }
}
