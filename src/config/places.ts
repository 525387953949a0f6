// Where a text is written in a file, for mistakes that show only when the text is used.
import { existsSync, readFileSync } from "node:fs";
import { type Location, UnsetVariableError, UsageError } from "../core/index.ts";
import type { ResolvedRun } from "./run-spec.ts";

/** The first place of the text at or after a line; comments do not count. */
export function findText(file: string, text: string, from = 1): Location | undefined {
  if (!existsSync(file)) return undefined;
  const lines = readFileSync(file, "utf8").split("\n");
  const index = lines.findIndex((line, number) => number >= from - 1 && line.replace(/(^|\s)#.*/, "").includes(text));
  return index === -1 ? undefined : { file, line: index + 1, column: (lines[index] as string).indexOf(text) + 1 };
}

/** Does the work; an unset variable is reported with the file and line that name it. */
export async function withVariablePlaces<T>({ sources = [] }: ResolvedRun, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof UnsetVariableError)) throw error;
    const places = sources.flatMap((file) => findText(file, `\${${error.variable}`) ?? []);
    throw places[0] ? new UsageError(error.reason, places[0]) : error;
  }
}
