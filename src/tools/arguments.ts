// From a model's raw argument text to checked arguments, or to an error that helps the model do better.
import type { Ajv, ErrorObject, ValidateFunction } from "ajv";
import {
  didYouMean,
  isObject,
  isTooDeep,
  type JsonObject,
  MAX_JSON_DEPTH,
  messageOf,
  type ToolCall,
  type ToolResult,
  type ToolSpec,
  toPlain,
  withExactNumbers,
  writeExact,
} from "../core/index.ts";
import { createAjv } from "./ajv.ts";
import type { Toolbox } from "./naming.ts";

type CheckedArguments = { ok: true; value: JsonObject } | { ok: false; result: ToolResult };

/** The tool that a call means and its checked arguments, or the error that it is answered with. */
export function prepareCall(toolbox: Toolbox, call: ToolCall) {
  const named = toolbox.resolve(call.name);
  if (!named) return { ok: false, result: unknownTool(call.name, toolbox.names()) } as const;
  const checked = checkArguments(named.spec, call.arguments);
  return checked.ok ? ({ ok: true, value: checked.value, named } as const) : checked;
}

export function checkArguments(spec: ToolSpec, text: string): CheckedArguments {
  if (isTooDeep(text))
    return refuseArguments(`The arguments of ${spec.name} are nested deeper than ${MAX_JSON_DEPTH} levels.`);
  let value: unknown;
  try {
    // a number beyond JavaScript's is one all the same: it counts as the largest, where infinity would be no JSON
    value = text.trim() === "" ? {} : toPlain(withExactNumbers(JSON.parse(text), text));
  } catch (error) {
    return refuseArguments(
      `The arguments of ${spec.name} are not valid JSON (${messageOf(error)}). ${describeParameters(spec)}`,
    );
  }
  if (!isObject(value))
    return refuseArguments(`The arguments of ${spec.name} must be a JSON object. ${describeParameters(spec)}`);
  const validate = validatorFor(spec.parameters);
  if (validate(value)) return { ok: true, value: value as JsonObject };
  const problems = [...new Set((validate.errors ?? []).map((error) => describe(error, spec)))].join("; ");
  return {
    ok: false,
    result: failure(
      `Invalid arguments for ${spec.name}: ${problems}. ${describeParameters(spec)}`,
      "invalid_arguments",
    ),
  };
}

export function unknownTool(name: string, available: string[]): ToolResult {
  const tools = available.length > 0 ? `Available tools: ${available.join(", ")}.` : "No tools are available.";
  const hint = didYouMean(name, available) || ".";
  return failure(`There is no tool named "${name}"${hint} ${tools}`, "unknown_tool");
}

export function failure(message: string, fault: NonNullable<ToolResult["fault"]>): ToolResult {
  return { content: JSON.stringify({ error: message }), isError: true, fault };
}

function refuseArguments(message: string): CheckedArguments {
  return { ok: false, result: failure(message, "malformed_arguments") };
}

let ajv: Ajv | undefined;
const validators = new WeakMap<JsonObject, ValidateFunction>();
const validatorsByText = new Map<string, ValidateFunction>();

/** Compiled on first use and kept by content: compiling costs milliseconds, checking nanoseconds. */
function validatorFor(schema: JsonObject): ValidateFunction {
  let validator = validators.get(schema);
  if (validator) return validator;
  const text = JSON.stringify(schema);
  validator = validatorsByText.get(text);
  if (!validator) {
    ajv ??= createAjv();
    try {
      // a schema's own dialect and id are not needed to check it, and may be unknown or already in use
      const { $schema: _dialect, $id: _id, ...rules } = toPlain(schema);
      validator = ajv.compile(rules);
    } catch {
      validator = ajv.compile({ type: "object" }); // a broken schema cannot reject anything
    }
    validatorsByText.set(text, validator);
  }
  validators.set(schema, validator);
  return validator;
}

function describe(error: ErrorObject, spec: ToolSpec): string {
  const path = error.instancePath.split("/").slice(1).map(unescapePointer);
  const inner = (name: string) => `"${[...path, name].join(".")}"`;
  const named = path.length > 0 ? `"${path.join(".")}"` : "the arguments";
  if (error.propertyName !== undefined) return `the name of ${inner(error.propertyName)} ${error.message}`;
  switch (error.keyword) {
    case "required":
      return `${inner(error.params.missingProperty)} is missing`;
    case "additionalProperties": {
      const known = path.length > 0 ? [] : Object.keys((spec.parameters.properties as JsonObject | undefined) ?? {});
      return `${inner(error.params.additionalProperty)} is not a parameter${didYouMean(error.params.additionalProperty, known)}`;
    }
    case "propertyNames":
      return `${inner(error.params.propertyName)} is not a valid name`;
    case "const":
      return `${named} must be ${JSON.stringify(error.params.allowedValue)}`;
    case "enum":
      return `${named} must be one of ${error.params.allowedValues.map((value: unknown) => JSON.stringify(value)).join(", ")}`;
    case "type":
      return `${named} must be ${[error.params.type].flat().join(" or ")}`;
    default:
      return `${named} ${error.message ?? "is not valid"}`;
  }
}

function unescapePointer(part: string): string {
  return part.replaceAll("~1", "/").replaceAll("~0", "~");
}

function describeParameters(spec: ToolSpec): string {
  const properties = (spec.parameters.properties as { [name: string]: JsonObject } | undefined) ?? {};
  const required = (spec.parameters.required as string[] | undefined) ?? [];
  const fields = Object.entries(properties).map(([name, schema]) => {
    const type = Array.isArray(schema.enum) ? schema.enum.map(writeExact).join("|") : (schema.type ?? "any");
    return `${name} (${type}${required.includes(name) ? ", required" : ""})`;
  });
  return fields.length > 0 ? `Expected: ${fields.join(", ")}.` : "It takes no arguments.";
}
