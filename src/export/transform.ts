// A user's own function between reading and writing: it may change a record, add fields to its row, or leave it out.
import { isObject, messageOf, UsageError } from "../core/index.ts";
import { loadDefaultExport } from "../tools/index.ts";
import type { ExportRecord } from "./record.ts";

/** Where a record came from, with the line as it is in the file. */
export type RecordSource = { file: string; line: number; raw: unknown };

/**
 * Gets each record, labelled and scored; a line that is not one of our records comes with empty `messages`, to be
 * filled from `source.raw`. What it returns is exported; null leaves the record out. It must not depend on the order of
 * the records, and may be called twice for one.
 */
export type Transform = (
  record: ExportRecord,
  source: RecordSource,
) => ExportRecord | null | undefined | Promise<ExportRecord | null | undefined>;

export async function loadTransform(file: string): Promise<Transform> {
  const transform = await loadDefaultExport(file);
  if (typeof transform !== "function")
    throw new UsageError("the default export must be a function from a record to a record or null", { file });
  return async (record, source) => {
    let result: unknown;
    try {
      result = await (transform as Transform)(record, source);
    } catch (error) {
      const location = { file: source.file, line: source.line };
      throw new UsageError(`the transform ${file} failed: ${messageOf(error)}`, location);
    }
    if (result === null || result === undefined) return null;
    if (!isObject(result) || !Array.isArray(result.messages) || !isObject(result.extra))
      throw new UsageError("the transform must return the record that it was given, changed, or null", { file });
    return result as ExportRecord;
  };
}
