export { AppendFile, type SyncMode } from "./append-file.ts";
export { type FinishedRecord, keyText, scanFinished } from "./finished.ts";
export { type JournalLine, readEntries, scanJournalLines, type Unfinished } from "./journal.ts";
export { claimJournalFolder } from "./journal-folder.ts";
export { fileName, jsonLine, scanLines } from "./lines.ts";
export { Lock } from "./lock.ts";
export {
  type FingerprintParts,
  FORMAT_VERSION,
  type Manifest,
  type ManifestDataset,
  readManifest,
} from "./manifest.ts";
export { type StoredPrompt, toFunctionTools } from "./prompt-store.ts";
export {
  newestRun,
  openRun,
  type RolloutRecord,
  type RunOverview,
  readRollouts,
  readRun,
} from "./read-run.ts";
export { allRounds, defaultOutput, ROUND, recordFiles, roundFile, roundFiles } from "./rounds.ts";
export {
  besideIfTaken,
  type FailureRecord,
  RunFolder,
  type RunFolderOptions,
  writerOf,
} from "./run-folder.ts";
export { type SortedFile, sortRun } from "./sort-run.ts";
export { type DatasetSummary, summarise, writeSummary } from "./summary.ts";
export { type DatasetTally, RunTally, type RunTotals } from "./tally.ts";
