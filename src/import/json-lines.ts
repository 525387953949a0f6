// Rows of a file of JSON lines, or of one JSON list, with every number as it is written.
import { statSync } from "node:fs";
import { isObject, type JsonObject, parseExact, UsageError } from "../core/index.ts";
import { readText } from "../files/index.ts";

/** `row` is missing where the line is no JSON object. */
export type Row = { line: number; row: JsonObject | undefined };

export function readRows(file: string): Row[] {
  if (!statSync(file).isFile()) throw new UsageError(`${file} is a folder: name a file of JSON lines`);
  const text = readText(file).replace(/^\ufeff/, "");
  if (text.trimStart().startsWith("[")) {
    const list = parseExact(text);
    if (!Array.isArray(list)) throw new UsageError("is neither JSON lines nor a JSON list", { file });
    return list.map((row, index) => ({ line: index + 1, row: toObject(row) }));
  }
  return text
    .split("\n")
    .map((line, index) => ({ line: index + 1, text: line }))
    .filter((line) => line.text.trim() !== "")
    .map((line) => ({ line: line.line, row: toObject(parseExact(line.text)) }));
}

function toObject(value: unknown): JsonObject | undefined {
  return isObject(value) ? (value as JsonObject) : undefined;
}
