// From a source to dataset folders, and the report of what could not be carried over.
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { UsageError } from "../core/index.ts";
import type { ImportOptions } from "./format.ts";
import { type FormatName, IMPORT_FORMATS } from "./formats.ts";
import type { DatasetReport } from "./tally.ts";
import { REPORT } from "./write-dataset.ts";

export type ImportReport = { format: string; source: string; datasets: DatasetReport[] };

export async function importTasks(format: FormatName, options: ImportOptions): Promise<ImportReport> {
  if (!existsSync(options.source)) throw new UsageError(`There is no ${options.source}`);
  const datasets = await IMPORT_FORMATS[format].read(options);
  const report = { format, source: options.source, datasets };
  for (const dataset of datasets)
    if (dataset.folder !== undefined) writeReport(dataset.folder, { ...report, datasets: [dataset] });
  mkdirSync(options.out, { recursive: true });
  writeReport(options.out, report);
  return report;
}

function writeReport(folder: string, report: ImportReport): void {
  writeFileSync(join(folder, REPORT), `${JSON.stringify(report, undefined, 2)}\n`);
}
