// Tools that run code: a call may give the code as a body instead of escaping it into JSON.
import { isObject, remember, type ToolSpec } from "../../core/index.ts";

/** In the name or description of a tool that takes `code`: a country's code runs nowhere. */
const RUNS_CODE =
  /\b(?:python|ipython|javascript|typescript|bash|shell|interpreter|sandbox|runs?|exec|executes?|evaluates?)\b/i;
const CODE_NAMES = /(?:^|_)code$|^(?:script|program|snippet)$/i;
/** A name that says it all, whatever its parameter is called. */
const LANGUAGE = /^(?:(?:run|exec|execute|eval|code|tool|repl|sandbox|runner|executor|i?python3?|interpreter) ?)+$/i;

/** The parameter that takes the code: the only one that must be given, and a text. Undefined if the tool runs none. */
export function codeParameterOf(tool: ToolSpec | undefined): string | undefined {
  return tool && findCodeParameter(tool);
}

const findCodeParameter = remember(({ name, description, parameters }: ToolSpec): string | undefined => {
  const properties = isObject(parameters.properties) ? parameters.properties : {};
  const required = Array.isArray(parameters.required) ? parameters.required.map(String) : [];
  const [key, ...others] = required.length > 0 ? required : Object.keys(properties);
  const schema = key === undefined ? undefined : properties[key];
  if (key === undefined || others.length > 0 || !isObject(schema)) return undefined;
  if (schema.type !== "string" || schema.enum !== undefined) return undefined;
  const title = inWords(name);
  if (/python|interpreter/i.test(title) && LANGUAGE.test(title)) return key;
  const told = [title, description, typeof schema.description === "string" ? schema.description : ""].join(" ");
  return CODE_NAMES.test(key) && RUNS_CODE.test(told) ? key : undefined;
});

/** `PythonInterpreter`, `execute_python` → words. */
function inWords(name: string): string {
  return name
    .replace(/([a-z])([A-Z])/g, "$1 $2")
    .replace(/[^A-Za-z0-9]+/g, " ")
    .trim();
}
