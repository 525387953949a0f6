// Records that an output file already holds. The original system's are recognised by their ids, as it made them for
// queries without one too; anything else in the file is refused before the run, since its records would be mixed with it.
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import type { ResolvedRun } from "../config/index.ts";
import { UsageError } from "../core/index.ts";
import { scanLines } from "../files/index.ts";
import { type FinishedRecord, MANIFEST_FILE, readHead, readManifest } from "../runs/index.ts";
import type { PreparedDataset } from "./prepare-dataset.ts";

type Dataset = Pick<PreparedDataset, "spec" | "queries">;

/** Calls back with our own id of a query where the original made up another. */
export function withOurIds({ queries }: Dataset, onRecord: (record: FinishedRecord) => void) {
  return (record: FinishedRecord) => {
    const isOurs = record.fingerprint !== "";
    onRecord(isOurs ? record : { ...record, queryId: queries.meantBy(record.queryId) ?? record.queryId });
  };
}

/** A run's own output was looked at when the run began: what is damaged in it since is set aside when it is opened. */
function isOwn(folder: string, name: string, file: string): boolean {
  const output = readManifest(join(folder, MANIFEST_FILE))?.datasets[name]?.output;
  return output !== undefined && resolve(output) === resolve(file);
}

export function requireKnownRecords({ config, folder }: ResolvedRun, datasets: Dataset[]): void {
  if (!config.resume) return;
  for (const { spec, queries } of datasets) {
    const { output: file, name } = spec;
    if (file === undefined || !existsSync(file) || isOwn(folder, name, file)) continue;
    scanLines(file, (line) => {
      const record = readHead(line, name);
      if (record?.fingerprint) return;
      const place = { file, line: line.number };
      const remedy = `Give dataset "${name}" another output_path, or use --no-resume`;
      if (!record) {
        if (line.bytes.toString("utf8").trim() === "") return;
        throw new UsageError(
          `this line is no record with an id, so the run cannot be continued here. ${remedy}`,
          place,
        );
      }
      if (queries.meantBy(record.queryId) !== undefined) return;
      throw new UsageError(`the record "${record.queryId}" belongs to no query of dataset "${name}". ${remedy}`, place);
    });
  }
}
