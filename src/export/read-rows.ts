// The rows of a dataset file: JSON lines, or Parquet one row group at a time.
import { isUtf8 } from "node:buffer";
import { asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects } from "hyparquet";
import { messageOf } from "../core/index.ts";
import { readLines } from "../files/index.ts";

type RowAt = { line: number; value: unknown };

export function readRows(file: string): AsyncIterable<RowAt> | Iterable<RowAt> {
  return file.endsWith(".parquet") ? parquetRows(file) : jsonRows(file);
}
function* jsonRows(file: string): Generator<RowAt> {
  for (const { bytes, number } of readLines(file)) {
    if (!isUtf8(bytes)) {
      yield { line: number, value: new Error("has bytes that are not UTF-8") };
      continue;
    }
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

/** Parquet fills absent members with nulls, which JSON lines leave out; in arguments a null is a value. */
export function withoutNulls(value: unknown): unknown {
  if (typeof value === "bigint") return Number(value);
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value).filter(([, member]) => member !== null && member !== undefined);
  return Object.fromEntries(members.map(([key, member]) => [key, key === "arguments" ? member : withoutNulls(member)]));
}
