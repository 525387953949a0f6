// A file of the Berkeley function-calling leaderboard: questions with functions, or tasks over the classes of its
// checkout, with the possible answers next to it.
import { existsSync } from "node:fs";
import { basename, dirname, extname, join, resolve } from "node:path";
import { type Json, type JsonObject, UsageError } from "../../core/index.ts";
import { writeDescribed } from "../described-tools.ts";
import type { ImportFormat, ImportOptions } from "../format.ts";
import { type Row, readRows } from "../json-lines.ts";
import { choosePython } from "../run-python.ts";
import { Tally } from "../tally.ts";
import { readClasses } from "./classes.ts";
import { readSingleTurn } from "./single-turn.ts";

export const bfcl: ImportFormat = {
  read: async (options) => {
    const rows = readRows(options.source);
    const entries = rows.flatMap(({ row }) => (row && isEntry(row) ? [row] : []));
    if (entries.length === 0)
      throw new UsageError(
        `${options.source} is no file of the Berkeley function-calling leaderboard. Looked for: JSON lines with "id", "question" (a list of turns), and "function" (single turn) or "involved_classes" (multi-turn)`,
      );
    const name = basename(options.source, extname(options.source));
    const tally = new Tally(name);
    for (const { line } of rows.filter((each) => !entries.includes(each.row as JsonObject)))
      tally.skip(`line ${line}`, 'it has no "id", "question" and "function" or "involved_classes"');
    const folder = resolve(options.out, name);
    const truths = readAnswers(options);
    const single = entries.filter(({ involved_classes }) => !Array.isArray(involved_classes));
    const overClasses = entries.filter((entry) => !single.includes(entry));
    if (overClasses.length > 0)
      for (const { id } of single)
        tally.skip(String(id), "it has no classes, and others of its file do: a file has one kind");
    if (overClasses.length > 0)
      return [await readClasses({ entries: overClasses, truths, folder, name, tally, options })];
    const tasks = single.flatMap((entry) => {
      const kept: { tools: ReturnType<typeof readSingleTurn>["tools"] } = { tools: [] };
      const queries = tally.convert(String(entry.id), () => {
        const { query, tools } = readSingleTurn(entry, truths.get(String(entry.id)), tally);
        kept.tools = tools;
        return query;
      });
      return queries.map((query) => ({ query, tools: kept.tools, answers: [] }));
    });
    const python = await choosePython(dirname(options.source), options.python, options.env);
    if (tasks.length === 0) return [tally.report(undefined)];
    writeDescribed({ folder, name, python, tasks, otherwise: "accept", tally });
    return [tally.report(folder)];
  },
};

function isEntry({ id, question, function: functions, involved_classes }: JsonObject): boolean {
  return id !== undefined && Array.isArray(question) && (Array.isArray(functions) || Array.isArray(involved_classes));
}

/** By id. */
function readAnswers({ source, answers }: ImportOptions): Map<string, Json> {
  const beside = join(dirname(source), "possible_answer", basename(source));
  const file = answers ?? (existsSync(beside) ? beside : undefined);
  if (file === undefined) return new Map();
  if (!existsSync(file)) throw new UsageError(`There is no file of possible answers ${file}`);
  return new Map(
    readRows(file).flatMap(({ row }: Row) => (row?.ground_truth ? [[String(row.id), row.ground_truth]] : [])),
  );
}
