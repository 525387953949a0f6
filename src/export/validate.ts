// Checks any file of a known format, ours or not, against the format's shape, the rules of its loader and of dialogues,
// and, if asked, against what a chat template makes of each row.
import { existsSync } from "node:fs";
import { isObject, type JsonObject, UsageError } from "../core/index.ts";
import { checkDialogue, type Problem } from "./check-dialogue.ts";
import { checkShape } from "./check-shape.ts";
import type { Format } from "./formats/format.ts";
import { findFormat } from "./formats/index.ts";
import { endsOf, plainRows } from "./pair-rows.ts";
import { readRows } from "./read-rows.ts";
import { createSecretFinder } from "./secrets.ts";
import { TemplateCheck, type TemplateOptions } from "./template-rows.ts";
import type { TemplateSummary } from "./templates/report.ts";
import { learntOf } from "./unroll.ts";

export type Finding = Problem & {
  /** of a JSONL file; in Parquet, the row */
  line: number;
};
export type ValidateOptions = TemplateOptions & {
  file: string;
  format: string;
  secrets?: readonly string[];
  onRow?: () => void;
};

export type Validated = { /** how many were read */ rows: number; template: TemplateSummary | undefined };

/** Findings as they occur; the generator returns what was read. */
export async function* validateFile(options: ValidateOptions): AsyncGenerator<Finding, Validated> {
  const { file, format: name, secrets } = options;
  if (!existsSync(file)) throw new UsageError(`There is no file ${file}`);
  const format = findFormat(name);
  const finder = createSecretFinder(secrets);
  const template = TemplateCheck.open(format, options);
  let rows = 0;
  for await (const { line, value } of readRows(file)) {
    rows++;
    options.onRow?.();
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
    const problems = checkRow(value as JsonObject, format);
    for (const problem of problems) yield { ...problem, line };
    if (problems.some(({ level }) => level === "error")) continue;
    for (const problem of template?.see(value as JsonObject, String(value.id ?? line)) ?? [])
      yield error(`behind the template, ${problem}`);
  }
  if (rows === 0) yield { level: "error", line: 1, message: "the file has no rows" };
  return { rows, template: template?.report() };
}

function checkRow(value: JsonObject, format: Format): Problem[] {
  const error = (message: string): Problem => ({ level: "error", message });
  const problems = endsOf(value).some((end) => end.some(({ role }) => role !== undefined && role !== "assistant"))
    ? [error("a continuation holds more than the agent's words, and trainers of pairs learn all of it")]
    : [];
  for (const row of plainRows(value)) {
    const misfits = checkShape(row, format);
    problems.push(...misfits.map(error));
    if (misfits.length > 0) continue;
    const reading = format.read(row);
    problems.push(...reading.problems.map(error));
    if (format.oncePerQuery) continue;
    problems.push(...checkDialogue(reading.dialogue));
    if (learntOf(reading.dialogue.messages).length === 0) problems.push(error("nothing in it would be learnt"));
  }
  return problems;
}
