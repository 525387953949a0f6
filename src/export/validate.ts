// Checks any file of a known format, ours or not, against the rules of its loader and of dialogues.

import { existsSync } from "node:fs";
import { asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects } from "hyparquet";
import { isObject, type JsonObject, messageOf, UsageError } from "../core/index.ts";
import { readLines } from "../files/index.ts";
import { checkDialogue, type Problem } from "./check-dialogue.ts";
import { findFormat } from "./formats/index.ts";
import { plainRows } from "./pair-rows.ts";
import { createSecretFinder } from "./secrets.ts";

export type Finding = Problem & {
  /** of a JSONL file; in Parquet, the row */
  line: number;
};
export type ValidateOptions = { file: string; format: string; secrets?: readonly string[] };

/** Findings as they occur; the generator returns the number of rows read. */
export async function* validateFile({ file, format: name, secrets }: ValidateOptions): AsyncGenerator<Finding, number> {
  if (!existsSync(file)) throw new UsageError(`There is no file ${file}`);
  const format = findFormat(name);
  const finder = createSecretFinder(secrets);
  let rows = 0;
  for await (const { line, value } of file.endsWith(".parquet") ? parquetRows(file) : jsonRows(file)) {
    rows++;
    const error = (message: string): Finding => ({ level: "error", message, line });
    if (value instanceof Error) {
      yield error(`is not valid JSON: ${value.message}`);
      continue;
    }
    if (!isObject(value)) {
      yield error("is not a JSON object");
      continue;
    }
    const secret = finder.find(value);
    if (secret) yield error(`a text looks like ${secret}`);
    for (const row of plainRows(value as JsonObject)) {
      const { dialogue, problems } = format.read(row);
      for (const problem of problems) yield error(problem);
      if (format.oncePerQuery || dialogue.messages.length === 0) continue;
      for (const problem of checkDialogue(dialogue)) yield { ...problem, line };
    }
  }
  return rows;
}

type RowAt = { line: number; value: unknown };

function* jsonRows(file: string): Generator<RowAt> {
  for (const { bytes, number } of readLines(file)) {
    const text = bytes.toString("utf8").replace(/^\ufeff/, "");
    if (text.trim() === "") continue;
    try {
      yield { line: number, value: JSON.parse(text) };
    } catch (error) {
      yield { line: number, value: new Error(messageOf(error)) };
    }
  }
}

/** One row group at a time. */
async function* parquetRows(file: string): AsyncGenerator<RowAt> {
  const buffer = await asyncBufferFromFile(file);
  const metadata = await parquetMetadataAsync(buffer);
  let start = 0;
  for (const { num_rows } of metadata.row_groups) {
    const end = start + Number(num_rows);
    const rows = await parquetReadObjects({ file: buffer, metadata, rowStart: start, rowEnd: end });
    for (const [index, row] of rows.entries()) yield { line: start + index + 1, value: withoutNulls(row) };
    start = end;
  }
}

/** Parquet fills absent members with nulls, which JSON lines leave out. */
function withoutNulls(value: unknown): unknown {
  if (typeof value === "bigint") return Number(value);
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value).filter(([, member]) => member !== null && member !== undefined);
  return Object.fromEntries(members.map(([key, member]) => [key, withoutNulls(member)]));
}
