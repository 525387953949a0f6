// A dataset's tables, from its files.
import { readdirSync } from "node:fs";
import { basename, join } from "node:path";
import { isObject, UsageError } from "../core/index.ts";
import { readJson } from "../files/index.ts";
import { BaseTable, type Row } from "./tables.ts";

const tablesByFolder = new Map<string, BaseTable[]>();

/** Domains of one folder share their tables, so each file is read once. */
export function readTables(folders: readonly string[]): BaseTable[] {
  return folders.flatMap((folder) => {
    let tables = tablesByFolder.get(folder);
    if (!tables) {
      tables = listTableFiles(folder).map((file) => {
        const rows = readJson(file);
        if (!Array.isArray(rows) || !rows.every(isObject))
          throw new UsageError("a table must be a list of records", { file });
        return new BaseTable(basename(file, ".json"), rows as Row[]);
      });
      tablesByFolder.set(folder, tables);
    }
    return tables;
  });
}

export function listTableFiles(folder: string): string[] {
  return readdirSync(folder)
    .filter((file) => file.endsWith(".json"))
    .sort()
    .map((file) => join(folder, file));
}
