// Tools as rows have them: a list, or a text that holds one.
import { isObject, type Json, type JsonObject, parseExact } from "../../core/index.ts";
import { type DescribedTool, toTool } from "../tool-schema.ts";

export function readTools(value: Json | undefined): DescribedTool[] {
  return listIn(value).flatMap((each) => (isObject(each) ? (toTool(each as JsonObject) ?? []) : []));
}

/** A list, or the JSON of one, or objects one after the other. */
export function listIn(value: Json | undefined): Json[] {
  if (Array.isArray(value)) return value;
  if (isObject(value)) return [value as JsonObject];
  if (typeof value !== "string" || value.trim() === "") return [];
  const whole = parseExact(value);
  if (whole !== undefined) return typeof whole === "string" ? [] : listIn(whole);
  return value.split("\n").flatMap((line) => listIn(parseExact(line)));
}

/** A system message that lists its functions as JSON somewhere in its text. */
export function toolsInText(text: string): DescribedTool[] {
  for (let at = text.indexOf("["); at !== -1; at = text.indexOf("[", at + 1)) {
    const end = text.lastIndexOf("]");
    const tools = end > at ? readTools(parseLoose(text.slice(at, end + 1))) : [];
    if (tools.length > 0) return tools;
  }
  return [];
}

/** JSON, or a list as Python prints it. */
export function parseLoose(text: string): Json | undefined {
  return parseExact(text) ?? parseExact(fromPython(text));
}

/** Quotes and constants as JSON has them; a text that holds the other kind of quote keeps it. */
function fromPython(text: string): string {
  return text.replace(
    /'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|\b(True|False|None)\b/g,
    (_, single, double, constant) => {
      if (constant) return { True: "true", False: "false", None: "null" }[constant as "True"];
      if (double !== undefined) return `"${double}"`;
      return `"${String(single).replaceAll("\\'", "'").replaceAll('"', '\\"')}"`;
    },
  );
}
