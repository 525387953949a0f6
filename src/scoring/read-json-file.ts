// A JSON file that somebody else made: where it is broken, the error names it.
import { readFileSync } from "node:fs";
import { messageOf, UsageError } from "../core/index.ts";

export function readJsonFile(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch (error) {
    throw new UsageError(`cannot be read: ${messageOf(error)}`, { file });
  }
}
