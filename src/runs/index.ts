export type { SyncMode } from "./append-file.ts";
export { type FinishedRecord, keyText, scanFinished } from "./finished.ts";
export type { Unfinished } from "./journal.ts";
export { fileName, jsonLine, scanLines } from "./lines.ts";
export { type FingerprintParts, FORMAT_VERSION, type Manifest, readManifest } from "./manifest.ts";
export { type StoredPrompt, toFunctionTools } from "./prompt-store.ts";
export { besideIfTaken, defaultOutput, type FailureRecord, RunFolder, type RunFolderOptions } from "./run-folder.ts";
export { type DatasetSummary, summarise, writeSummary } from "./summary.ts";
