// Writes the bundled domains' database: `npx tsx scripts/make-bundled-data.ts [folder]`. Deterministic; a test compares
// its output with the committed files.
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { Row } from "../src/tools/index.ts";

export type Tables = { [table: string]: Row[] };

export async function makeTables(): Promise<Tables> {
  const folder = fileURLToPath(new URL("./bundled-data/", import.meta.url));
  const tables: Tables = {};
  for (const file of readdirSync(folder).sort()) {
    const part = (await import(pathToFileURL(join(folder, file)).href)) as { makeTables?: () => Tables };
    for (const [table, rows] of Object.entries(part.makeTables?.() ?? {})) {
      tables[table] = [...(tables[table] ?? []), ...rows];
    }
  }
  return tables;
}

/** One record per line, so that a difference shows as one line. */
export function tableText(rows: Row[]): string {
  return `[\n${rows.map((row) => `  ${JSON.stringify(row)}`).join(",\n")}\n]\n`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const target =
    process.argv[2] ?? fileURLToPath(new URL("../src/domains/bundled/database/outputs/entities/", import.meta.url));
  mkdirSync(target, { recursive: true });
  for (const [table, rows] of Object.entries(await makeTables())) {
    writeFileSync(join(target, `${table}.json`), tableText(rows));
    console.log(`${table}: ${rows.length} records`);
  }
}
