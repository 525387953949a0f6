// Scoring record files that have no manifest: `rollout eval` with --domains. The records are brought into our shape in a
// temporary file, then scored and reported like a run's.
import { closeSync, mkdirSync, openSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { raceAbort } from "../core/index.ts";
import type { DomainFiles } from "../domains/index.ts";
import { jsonLine, makeTempFolder } from "../files/index.ts";
import { type EvaluationCounts, evaluate } from "./evaluate.ts";
import { findRecordFiles, readRecordFiles } from "./record-files.ts";
import { buildReport, type Report } from "./report/report.ts";
import { type ScoreRunOptions, withServices } from "./score-run.ts";
import { openRecordsDataset } from "./scored-datasets.ts";
import { createScorer } from "./scorer.ts";
import { SCORES_FILE } from "./scores.ts";
import type { StoredDataset } from "./stored-datasets.ts";

type ScoreFilesOptions = Omit<ScoreRunOptions, "folder" | "basePath"> & {
  /** a file, or a folder of files */
  path: string;
  /** the domain or combination that the records belong to */
  domain: DomainFiles;
};

type ScoredFiles = { counts: EvaluationCounts; report: Report; scoresFile: string };

const MAX_WORKERS = 8;

export async function scoreFiles(options: ScoreFilesOptions): Promise<ScoredFiles> {
  const {
    path,
    domain,
    settings = {},
    maxWorkers = MAX_WORKERS,
    force,
    park,
    abort,
    onScore,
    onRollout,
    onNotice = () => {},
  } = options;
  const { files, scores: folder } = findRecordFiles(path, onNotice);
  const temporary = makeTempFolder("records");
  try {
    return await withServices({ ...options, onNotice }, async ({ resources, network }) => {
      const scorer = await createScorer(settings, network.createClient);
      const file = join(temporary, "records.jsonl");
      const dataset = await raceAbort(openRecordsDataset(domain, [file], resources), park);
      writeRecords(file, files, { dataset, servers: domain.servers, onNotice });
      mkdirSync(folder, { recursive: true });
      const counts = await evaluate({
        ...scorer,
        folder,
        datasets: [dataset],
        workers: maxWorkers,
        force,
        park,
        abort,
        onPause: onNotice,
        onScore,
        onRollout,
      });
      const report = buildReport(folder, settings.score, {
        files: [{ dataset: dataset.name, file }],
        only: scorer.only,
      });
      return { counts, report, scoresFile: join(folder, SCORES_FILE) };
    });
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
}

type Target = { dataset: StoredDataset; servers: string[]; onNotice(message: string): void };

function writeRecords(file: string, from: readonly string[], { dataset, servers, onNotice }: Target): void {
  const hasQuery = (id: string) => dataset.query(id) !== undefined;
  const strays: string[] = [];
  let records = 0;
  const descriptor = openSync(file, "w");
  try {
    for (const record of readRecordFiles(from, { dataset: dataset.name, servers, hasQuery })) {
      writeSync(descriptor, jsonLine(record));
      records++;
      if (!hasQuery(record.query_id)) strays.push(record.id);
    }
  } finally {
    closeSync(descriptor);
  }
  const [first] = strays;
  if (first === undefined) return;
  onNotice(
    `${dataset.name} has no query for ${strays.length} of ${records} records, such as "${first}": they are not checkable`,
  );
}
