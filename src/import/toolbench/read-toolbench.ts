// Files of dialogues with tools, as ToolBench, xLAM and their kin have them: one row a dialogue, with the tools it may
// use, the calls, and what they answered.
import { basename, dirname, extname, resolve } from "node:path";
import { UsageError } from "../../core/index.ts";
import { type DescribedTask, writeDescribed } from "../described-tools.ts";
import type { ImportFormat } from "../format.ts";
import { readRows } from "../json-lines.ts";
import { choosePython } from "../run-python.ts";
import { Tally } from "../tally.ts";
import { readRow } from "./read-row.ts";
import { toTask } from "./to-task.ts";

export const toolbench: ImportFormat = {
  read: async ({ source, out, python: named, env }) => {
    const rows = readRows(source).map(({ line, row }) => ({ line, row, dialogue: row && readRow(row) }));
    if (!rows.some(({ dialogue }) => dialogue))
      throw new UsageError(
        `${source} has no dialogues with tools. Looked for: JSON lines with "messages" or "conversations", and "tools" or "functions"; or with "query", "tools" and "answers"`,
      );
    const name = basename(source, extname(source));
    const tally = new Tally(name);
    const tasks: DescribedTask[] = [];
    const ids = new Set<string>();
    for (const { line, row, dialogue } of rows) {
      const id = unusedId(row?.id, line, ids);
      if (!dialogue) tally.skip(id, "the row is no dialogue with tools");
      else
        tally.convert(id, () => {
          const task = toTask(id, dialogue, tally);
          tasks.push(task);
          return task.query;
        });
    }
    if (tasks.length === 0) return [tally.report(undefined)];
    const folder = resolve(out, name);
    const python = await choosePython(dirname(source), named, env);
    writeDescribed({ folder, name, python, tasks, otherwise: "error", tally });
    return [tally.report(folder)];
  },
};

function unusedId(written: unknown, line: number, ids: Set<string>): string {
  const own = typeof written === "string" || typeof written === "number" ? String(written) : "";
  const id = own === "" || ids.has(own) ? `line-${line}` : own;
  ids.add(id);
  return id;
}
